"""Waiting for something to be heard."""

import asyncio


async def until(changed, find, seconds, missing):
    """What `find()` finds, looked for again whenever the condition `changed` is notified; TimeoutError(missing())."""

    async def wait():
        async with changed:
            return await changed.wait_for(find)

    try:
        return await asyncio.wait_for(wait(), seconds)
    except TimeoutError:
        raise TimeoutError(missing()) from None
