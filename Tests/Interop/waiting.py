"""Waits for a condition."""

import asyncio


async def until(changed, find, seconds, missing):
    """Returns the first true value of `find()`, called whenever `changed` is notified; raises TimeoutError(missing())."""

    async def wait():
        async with changed:
            return await changed.wait_for(find)

    try:
        return await asyncio.wait_for(wait(), seconds)
    except TimeoutError:
        raise TimeoutError(missing()) from None
