"""The check of a bot against the protocol: it is driven by hand, and each rule that concerns a bot gets a verdict.

Laws:
1. Whatever a bot does becomes a verdict. Nothing that it sends raises through `check_bot`.
2. Every wait ends: `Budget` says when, and a check of a bot that hangs everywhere ends as surely as one of a good bot.
3. One cause, one failure: what can no longer be judged because of it is `not attempted`, and says because of what.
4. The numbers are those of `protocol/SPEC.md`; nothing is demanded that it does not say.
"""
