"""Pages that are served to browsers: the base that every such command stands on.

- `serving` binds a socket, says the address, serves an application until it is asked to end, and ends politely.
- `guard` decides who may ask: only browsers that were given the address, and no page of another site.
- `limits` ends connections that take more than their share: by address, by time, by bytes.
- `site` answers with the files of a folder of pages.
- `streams` sends what happens to any number of watchers. None of them can hold up anything.

A command puts them together like this:

    listening = listen("127.0.0.1:0")
    key = new_key()
    streams = EventStreams(scene)
    app = Guard(Starlette(routes=[Route("/", page), Route("/events", streams)]), key=key, port=listening.port)
    serve(app, listening, ready=lambda: say(listening.url(key)), on_stop=streams.close)
"""

from arena.pages.web.guard import Guard
from arena.pages.web.serving import Listening, Server, listen
from arena.pages.web.site import league_pages, site_app

__all__ = ["Guard", "Listening", "Server", "league_pages", "listen", "site_app"]
