"""Runs a real league for some minutes with all that can happen to one, and judges what is left: `make soak`.

`scenario` draws from a seed what happens when. `stage` runs the league, `couriers` bring bots, `trouble` kills processes
and fills the disk, `watch` looks at memory and at what was announced. Afterwards `evidence` collects what the league
has left, `judge` compares that with what must hold, and `report` says it to people.
"""
