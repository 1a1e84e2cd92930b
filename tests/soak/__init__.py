"""Runs a real league for some minutes with all that can happen to one, and judges what is left: `make soak`.

`scenario` draws from a seed what happens when. `stage` runs the league, `couriers` bring bots to it, `trouble` kills
processes and fills the disk, `watch` looks at memory and at what was announced; `soak` puts them together. Afterwards
`evidence` collects what the league has left, `judge` says what must hold, and `report` tells people. `room` is a disk
that can be filled.
"""
