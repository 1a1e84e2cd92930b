"""Records how an author goes from a token to a lost game with nothing but a browser, in a league that runs."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from command_kit import arena, started
from PIL import Image

SIZE = {"width": 900, "height": 640}
PATIENCE_MS = 300_000
SHOWN_MS = 2_200


def record(browser: Any, folder: Path, file: Path) -> None:
    """Writes one moving picture of the walk."""
    arena(folder, "league", "init", "cup", "--level", "trusted")
    arena(folder, "bot", "new", "fox")
    with started(folder, "league", "run", "cup", "--open", "127.0.0.1:0", "--quiet") as service:
        assert service.stdout is not None
        frames = list(walked(browser, service.stdout.readline().strip().rstrip("/"), folder))
        service.terminate()
        service.wait()
    times = [SHOWN_MS] * len(frames)
    frames[0].save(file, append_images=frames[1:], save_all=True, duration=times, quality=60, method=6)
    print(f"{file}: {file.stat().st_size // 1000} kB")


def walked(browser: Any, address: str, folder: Path) -> Any:
    """Yields what the author sees, one picture after another."""
    page = browser.new_page(viewport=SIZE, reduced_motion="reduce")
    page.set_default_timeout(PATIENCE_MS)

    def seen() -> Image.Image:
        return Image.open(io.BytesIO(page.screenshot())).convert("RGB")

    page.goto(f"{address}/me")
    yield seen()
    page.get_by_text("I have none yet").click()
    page.get_by_role("button", name="make a token").click()
    with page.expect_download() as download:
        page.get_by_role("link", name="this file").click()
    yield seen()
    arena(folder, "league", "author", "add", "anna", "--token", str(download.value.path()), "--league", "cup")
    page.get_by_role("button", name="sign in").click()
    page.locator("#inside").wait_for()
    yield seen()
    page.locator("#folder").set_input_files(folder / "fox")
    page.locator("#said", has_text="fox/1: received").wait_for()
    yield seen()
    page.locator("#said", has_text="fox/1: active").wait_for()
    yield seen()
    lost = page.locator("#games tbody tr")
    while not lost.count():
        page.wait_for_timeout(2_000)
        page.reload()
        page.locator("#inside").wait_for()
    page.locator("#played").scroll_into_view_if_needed()
    yield seen()
    while True:  # the league makes its pages once a minute
        lost.first.get_by_role("link", name="watch").click()
        page.locator("html[data-ready]").wait_for(state="attached")
        if not page.get_by_text("There is no replay").count():
            break
        page.go_back()
        page.wait_for_timeout(5_000)
    for _ in range(4):
        yield seen()
        page.keyboard.press("c")
