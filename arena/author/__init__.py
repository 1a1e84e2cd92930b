"""Tools for authors of bots: a new folder, the build, the list, the bridge, and rerunning a lost game."""
