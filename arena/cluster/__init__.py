"""Plays games on the workers of a Dask cluster, as if they were worker processes of this machine."""
