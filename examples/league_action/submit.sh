#!/usr/bin/env bash
# Sends the bot in the folder $BOT of this repository to the league at $AT, waits until it is tried, and comments on the
# pull request or the commit with what came of it. Ends with 1 if it does not play then. Needs curl, jq, zip, git and gh.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
api=${AT%/}/api/v1

ask() { # the token is read from a file, because every user of a machine sees the words of a command
  curl --silent --show-error --fail-with-body --retry 3 --header @<(printf 'Authorization: Bearer %s\n' "$TOKEN") "$@"
}

comment() { # says what is in $folder/said.md
  cat "$folder/said.md" >>"$GITHUB_STEP_SUMMARY"
  if [[ -n $PULL_REQUEST ]]; then
    gh pr comment "$PULL_REQUEST" --repo "$GITHUB_REPOSITORY" --body-file "$folder/said.md"
  else
    gh api "repos/$GITHUB_REPOSITORY/commits/$COMMIT/comments" --silent --field "body=@$folder/said.md"
  fi
}

if [[ -z $TOKEN ]]; then
  echo "Nothing is sent: there is no token here. Pull requests from forks are given no secrets."
  exit 0
fi

# The files of the commit and no others, whatever was built meanwhile.
mkdir "$folder/bot"
git archive "HEAD:./$BOT" | tar -x -C "$folder/bot"
own=$(sed -n 's/^name *= *"\([^"]*\)".*/\1/p' "$folder/bot/bot.toml" | head -n 1)
name=${NAME:-$own${PULL_REQUEST:+-pr}}
sed -i "s/^name *= *\"$own\"/name = \"$name\"/" "$folder/bot/bot.toml"
(cd "$folder/bot" && zip --quiet --recurse-paths ../bot.zip .)

if ! ask --upload-file "$folder/bot.zip" "$api/bots/$name" >"$folder/sent.json"; then
  echo "The league at $AT did not answer." >"$folder/said.md"
  if [[ -s $folder/sent.json ]]; then
    jq -r '"**" + ("\($name) was not taken" | @html) + "**\n\n" + ("\(.detail); \(.remedy)" | @html)' --arg name "$name" \
      "$folder/sent.json" >"$folder/why.md" 2>/dev/null && mv "$folder/why.md" "$folder/said.md"
  fi
  comment
  exit 1
fi
version=$(jq -r '.version // ""' "$folder/sent.json")
if [[ -z $version ]]; then
  echo "The league has $name, and tries it when its service runs." >"$folder/said.md"
  comment
  exit 0
fi

deadline=$(($(date +%s) + MINUTES * 60))
while :; do
  # A league that is started again meanwhile is asked again. In a file no answer stands behind the one before it.
  ask --retry 6 --retry-all-errors --output "$folder/versions.json" "$api/versions?bot=$name&wait=60"
  state=$(jq -r --arg version "$version" '.versions[] | select(.version == $version).state' "$folder/versions.json")
  case $state in
    "" | received | building | checking | qualifying) (($(date +%s) < deadline)) || break ;;
    *) break ;;
  esac
  sleep 1
done
echo "version=$version" >>"$GITHUB_OUTPUT"
echo "state=$state" >>"$GITHUB_OUTPUT"

{
  printf '**%s is %s** at %s\n' "$version" "$state" "$AT"
  for step in build check qualify; do # what a bot wrote is the bot's own: it is shown, and makes no markup
    if ask "$api/versions/$version/reports/$step" >"$folder/$step.json" 2>/dev/null; then
      jq -r '"\n\(.kind): \(.verdict)\n" + if (.finding // "") == "" then "" else "<pre>" + (.finding | @html) + "</pre>\n"
        + if (.output // "") == "" then "" else "Its last words:\n<pre>" + (.output[-2000:] | @html) + "</pre>\n" end end' \
        "$folder/$step.json"
    fi
  done
} >"$folder/said.md"
comment
[[ $state == active || $state == superseded ]]
