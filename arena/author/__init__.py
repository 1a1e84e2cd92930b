"""What a bot's author works with: a folder to begin from, the build, the list, the bridge, a lost game asked again."""
