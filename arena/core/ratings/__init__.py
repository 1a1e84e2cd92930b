"""What results say about strength. Pure: numbers in, numbers out.

`running` is TrueSkill, which moves game by game. `refit` finds all strengths at once from all results, with intervals.
`evidence` and `sprt` say when two bots have been shown to differ.
"""
