"""The check of a bot against the protocol: it is driven by hand, and each rule that concerns a bot gets a verdict.

Laws:
1. Whatever a bot does becomes a verdict. Nothing that it sends raises through `check_bot`.
2. Every wait ends. `Budget` says when, so the check of a bot that hangs everywhere ends too.
3. One cause makes one failure. What cannot be judged because of it is `not attempted`, and says because of what.
4. The numbers are those of `protocol/SPEC.md`. Nothing is demanded that it does not say.
"""
