"""One scenario for each feature of bots/epicura: what a household sees in its chats, and what the cloud has then."""

import os
import signal
import time
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from bluetooth import FIRST, SECOND
from epicura_household import NETWORK, PASSPHRASE, household, is_file, plain
from epicura_simulator import EMAIL, FOREVER, PHONE
from scenario import check

COMMANDS = r"/v1/appliances/[^/]+/commands|/lan/v1/commands"
STOPS = r"/v1/appliances/[^/]+/emergency-stop|/lan/v1/emergency-stop"
# Masala chai cooks for 600 seconds, of which the first step is half. Commands between two steps need the slow speed.
SLOW, CALM = 20, 60
# For sessions of which only the end counts: 0.2 s.
FAST = 3_000


async def provisioning(stage):
    """Two devices, refused connections, a wrong passphrase, a cancellation, an adapter that is off."""
    home = await household(stage, "provisioning", pair=False)
    text, private = home.text, home.private
    await home.ask("/pair", text("privateChatOnly"))
    await home.ask("/pair", text("loginNeeded"), private)
    await home.login()
    # Nothing of the radio is there: an adapter that cannot be switched on ends the pairing.
    await home.bluez.call("BlockAdapter", "s", "hci0")
    before = await home.say("/pair", private)
    await home.until(text("pairFailedAdapter"), private, after=before)
    await home.bluez.call("RemoveAdapter", "s", "hci0")
    await home.bluez.call("AddAdapter", "ss", "hci0", "test")

    await home.advertise("A1", FIRST, signal=-40)
    await home.advertise("B2", SECOND, signal=-70, at={"connect": "refuse"})
    before = await home.say("/pair", private)
    both = "\n".join([text("pairChoose"), "1. Epicura A1 (-40 dBm)", "2. Epicura B2 (-70 dBm)"])
    await home.until(text("pairScanning"), private, after=before)
    await home.until(both, private, after=before)
    # A message that is no number of the list shows it again.
    await home.ask("the first one", both, private)
    # Three connections are tried, 1 and 2 seconds apart.
    before = await home.say("2", private)
    await home.until(text("pairConnecting", name="Epicura B2"), private, after=before)
    await home.until(text("pairFailedConnection"), private, after=before)
    attempts = (await home.bluez.state())["appliances"][SECOND]["log"].count("connect")
    check(attempts == 3, f"{attempts} connections")

    before = await home.say("/pair", private)
    await home.until(both, private, after=before)
    await home.ask("/cancel", text("pairCancelled"), private)

    before = await home.say("/pair", private)
    await home.until(both, private, after=before)
    await home.ask("1", text("pairAskWifi"), private)
    before = await home.say(f"{NETWORK}\na wrong passphrase", private)
    await home.until(text("pairJoining"), private, after=before)
    await home.until(text("pairFailedPassphrase"), private, after=before)
    await home.until(text("pairAskWifi"), private, after=before)
    before = await home.say(f"{NETWORK}\n{PASSPHRASE}", private)
    await home.until(text("pairJoining"), private, after=before)
    await home.until(text("pairDone", name="Epicura A1"), private, after=before)
    await home.ask_until("/status", lambda answer: answer == "1. Epicura A1: ready", "the appliance")
    await home.bluez.until_state(lambda state: not state["appliances"][FIRST]["isConnected"], "disconnection")
    log = home.bot.log.read_bytes()
    check(PASSPHRASE.encode() not in log and b"a wrong passphrase" not in log, "a passphrase in the log")


async def login(stage):
    """A code by phone and by e-mail; tokens of two seconds are rotated, also across a kill, and never used twice."""
    home = await household(stage, "login", lifetime=2, pair=False)
    text, private, simulator = home.text, home.private, home.simulator
    await home.ask("/login", text("privateChatOnly"))
    await home.ask("/recipes", text("loginNeeded"))
    await home.ask("/login", text("loginAskAddress"), private)
    await home.ask("my number is secret", text("loginAskAddress"), private)
    await home.ask(PHONE, text("loginCodeSent", minutes=5), private)
    code = await simulator.code(PHONE)
    await home.ask("000000" if code != "000000" else "000001", text("loginWrongCode"), private)
    await home.ask(code, text("loginDone"), private)

    # Each question reads the appliances, with a token that has expired meanwhile.
    async def refreshed(count):
        await home.ask("/status", text("applianceNone"))
        return len(await simulator.requests("POST", "/v1/auth/refresh")) >= count

    await simulator.until("three renewed tokens", lambda: refreshed(3))
    await home.bot.kill_worker(await home.bot.worker_pid())
    before = len(await simulator.requests("POST", "/v1/auth/refresh"))
    await simulator.until("a renewed token after a kill", lambda: refreshed(before + 1))
    renewals = await simulator.requests("POST", "/v1/auth/refresh")
    check(all(entry["status"] == 200 for entry in renewals), f"a refused renewal: {renewals}")
    for token in ("access-", "refresh-"):
        check(token.encode() not in home.bot.log.read_bytes(), f"a token in the log: {token}")

    await home.ask("/logout", text("loginEnded"), private)
    await simulator.until_requested("POST", "/v1/auth/logout")
    await home.login(EMAIL)


async def recipes(stage):
    """Search in three scripts, cards with allergens of each person, pictures, and all of it without the cloud."""
    home = await household(stage, "recipes")
    text, simulator = home.text, home.simulator
    facts = {"chai": (10, 2), "dal-tadka": (30, 4), "peanut-poha": (11, 2)}

    def line(number, title, recipe, language="en"):
        minutes, servings = facts[recipe]
        return f"{number}. {title} — " + text("recipeFacts", language, minutes=minutes, servings=servings)

    listed = await home.ask("/recipes", lambda answer: "Dal tadka" in answer)
    expected = [line(1, "Dal tadka", "dal-tadka"), line(2, "Masala chai", "chai"),
                line(3, "Peanut poha", "peanut-poha")]
    check(listed.splitlines() == expected, f"recipes: {listed}")
    await home.ask("/recipes nothing of this", text("recipesNone"))
    # An ingredient, and the beginning of a word.
    await home.ask("/recipes ging", line(1, "Masala chai", "chai"))
    await home.ask("/allergens Asha peanut, milk", text("allergensSet", person="Asha", allergens="milk, peanut"))
    await home.ask("/allergens Ravi plutonium", lambda answer: answer.startswith("Unknown allergen."))
    await home.ask("/allergens Ravi mustard", text("allergensSet", person="Ravi", allergens="mustard"))
    await home.ask(
        "/recipes poha", line(1, "Peanut poha", "peanut-poha") + "\n⚠️ Asha: peanut\n⚠️ Ravi: mustard")

    before = await home.say("/recipe 1")
    card = plain(await home.until(lambda answer: answer.startswith("Peanut poha\n"), after=before))
    for wanted in ("Flattened rice with peanuts.", "⚠️ Asha: peanut", "⚠️ Ravi: mustard", text("recipeIngredients"),
                   "• 200 g Flattened rice", text("recipeSteps"), "1. Roast the peanuts."):
        check(wanted in card.splitlines(), f"the card lacks {wanted!r}: {card}")
    await home.until_file("peanut-poha-1.jpg", after=before)

    for language, search, found in (
        ("hi", "दाल", ("dal-tadka", "दाल तड़का")), ("hi", "अदरक", ("chai", "मसाला चाय")),
        ("hi", "मूंगफ", ("peanut-poha", "मूंगफली पोहा")), ("ta", "பருப்பு", ("dal-tadka", "பருப்பு தாளிப்பு")),
        ("ta", "வேர்க்க", ("peanut-poha", "வேர்க்கடலை அவல்")),
    ):
        name = {"hi": "हिन्दी", "ta": "தமிழ்"}[language]
        await home.ask(f"/language {language}", text("languageSet", language, language=name))
        answer = await home.ask(f"/recipes {search}", lambda answer: found[1] in answer)
        check(answer.splitlines()[0] == line(1, found[1], found[0], language), f"{search}: {answer}")
    # A vowel sign divides no word: what follows it is no beginning.
    await home.ask("/recipes ளிப்பு", text("recipesNone", "ta"))
    await home.ask("/language en", text("languageSet", language="English"))

    # The cloud is away: recipes and the picture come from the disk, also after a kill.
    mark = await simulator.last_number()
    await simulator.faults(serverErrors=FOREVER)
    await home.bot.kill_worker(await home.bot.worker_pid())
    before = await home.say("/recipe peanut-poha")
    await home.until(lambda answer: answer.startswith("Peanut poha\n"), after=before)
    await home.until_file("peanut-poha-1.jpg", after=before)
    check(not await simulator.requests("GET", "/v1/recipes/.*/image", mark), "the picture was requested again")


async def cooking(stage):
    """A session with steps, pictures, a timer and an alert; commands; starts that are refused and never wait."""
    home = await household(stage, "cooking", speed=SLOW)
    text, simulator, asha = home.text, home.simulator, home.asha
    chai = {"title": "Masala chai"}
    await home.ask("/cook nothing of this", text("recipesNone"))
    await home.ask("/pause", text("cookNothing"))
    before = await home.say("/cook chai 4")
    await home.until(text("cookStarting", **chai), after=before)
    await home.until(text("cookStarted", **chai), after=before)
    await home.until(text("cookStep", step=1, text="Boil water and ginger."), after=before)
    await home.until(lambda said: said.startswith("Masala chai: ") and "step 1 of 3" in said, after=before)
    await home.ask("/pause", text("cookPaused", **chai))
    await home.ask("/cook dal-tadka", text("cookBusy"))
    await home.ask("/resume", lambda said: said.startswith("Masala chai: ") and "step 1 of 3" in said)
    await home.say("/next")
    await home.until(text("cookStep", step=2, text="Add tea and sugar."), after=before)
    alert = await home.until(text("cookAlert", text="Add tea and sugar."), after=before)
    home.check_mentions(alert, asha)
    await home.until(lambda said: said.startswith("Masala chai: ") and "step 2 of 3" in said, after=before)
    await home.until(text("cookStep", step=3, text="Add milk and simmer."), after=before)
    home.check_mentions(await home.until(text("cookTimer", label="Tea is ready"), after=before), asha)
    home.check_mentions(await home.until(text("cookFinished", **chai), after=before), asha)
    for number in (1, 2, 3):
        await home.until_file(f"step-{number}.jpg", after=before)
    said = home.texts(home.group)[before:]
    for once in (text("cookStarted", **chai), text("cookFinished", **chai), text("cookTimer", label="Tea is ready"),
                 text("cookAlert", text="Add tea and sugar.")):
        check(said.count(once) == 1, f"{once!r} was said {said.count(once)} times: {said}")
    history = await home.until_history(1)
    check(history[0]["servings"] == 4 and history[0]["outcome"] == "finished", f"{history}")

    # Neither by the cloud nor in the local network: refused, and nothing starts when the appliance is back.
    await simulator.faults(applianceOffline=True, localOffline=True)
    starts, mark = (await simulator.log())["starts"], await simulator.last_number()
    await home.ask("/cook chai", text("cookOffline"))
    await simulator.faults(applianceOffline=False, localOffline=False)
    await home.ask_until("/status", lambda answer: answer == "1. Epicura A1: ready", "the appliance online")
    sent = await simulator.requests("POST", COMMANDS, mark)
    check((await simulator.log())["starts"] == starts and not sent, f"a start was queued: {sent}")

    # Without the cloud's connection, by direct Wi-Fi.
    await simulator.faults(applianceOffline=True)
    await home.cook()
    check((await simulator.log())["starts"] == starts + 1, "no start by direct Wi-Fi")
    check(await simulator.requests("POST", "/lan/v1/commands", mark), "the start did not use the local network")
    before = len(home.said(home.group))
    await simulator.faults(applianceOffline=False)
    await home.until(text("cookFinished", **chai), after=before)
    await home.until_history(2)


async def emergency_stop(stage):
    """By any member; lost answers are repeated with one id; without an answer the chat is warned."""
    home = await household(stage, "emergency-stop", speed=1)
    text, simulator, ravi = home.text, home.simulator, home.ravi
    before = await home.cook()
    mine = await home.say("/stop", member=ravi)
    await home.until(text("stopSent"), member=ravi, after=mine)
    done = await home.until(text("stopAcknowledged"), member=ravi, after=mine)
    home.check_mentions(done, ravi)
    await home.until(text("cookStopped", title="Masala chai"), after=before)
    check((await simulator.log())["stops"] == 1, await simulator.summary())

    # Cloud and local network at once: two answers of the first attempt are lost, and one of the second.
    mark = await simulator.last_number()
    await simulator.faults(lostStopAcknowledgements=3)
    await home.ask("/stop @Epicura A1", text("stopAcknowledged"))
    attempts = await simulator.requests("POST", STOPS, mark)
    check(sum(entry["status"] == 0 for entry in attempts) == 3, f"{attempts}")
    check({entry["path"][:4] for entry in attempts} == {"/v1/", "/lan"}, f"not by both ways: {attempts}")
    check(len({entry.get("idempotencyKey") for entry in attempts}) == 1, f"several ids: {attempts}")
    check((await simulator.log())["stops"] == 2, await simulator.summary())

    # Nobody answers for five seconds: everyone is told. It is repeated until someone does.
    await simulator.faults(lostStopAcknowledgements=FOREVER)
    before = await home.say("/stop")
    overdue = await home.until(text("stopOverdue"), after=before)
    check({home.asha.pubkey, ravi.pubkey} <= {tag[1] for tag in overdue["tags"] if tag[0] == "p"}, f"{overdue}")
    await simulator.faults(lostStopAcknowledgements=0)
    await home.until(text("stopAcknowledged"), after=before)
    check((await simulator.log())["stops"] == 3, await simulator.summary())


async def camera(stage):
    """Snapshots from a stream with and without lengths, and none without the local network."""
    home = await household(stage, "camera")
    for omits in (False, True):
        await home.simulator.faults(omitContentLength=omits)
        before = await home.say("/camera")
        await home.until_file("camera.jpg", after=before)
    await home.simulator.faults(localOffline=True)
    await home.ask("/camera", home.text("cameraNone"))
    streams = await home.simulator.requests("GET", "/camera/stream")
    check(sum(entry["status"] == 200 for entry in streams) == 2, f"{streams}")


async def history(stage):
    """Sessions are recorded while the cloud is away, uploaded once, and rated by reaction and by command."""
    home = await household(stage, "history", speed=CALM)
    text, simulator = home.text, home.simulator
    await home.ask("/history", text("historyEmpty"))
    await home.ask("/rate 3", text("historyEmpty"))
    before = await home.cook()
    # The live stream still tells the end of the session; nothing can be uploaded.
    await simulator.faults(serverErrors=FOREVER)
    finished = await home.until(text("cookFinished", title="Masala chai"), after=before)
    await home.ask("/history", lambda answer: answer.startswith("Masala chai, "))
    reaction = await home.say("⭐⭐⭐⭐", kind=7, tags=[["e", finished["id"]]])
    await home.until(text("ratingSaved", stars=4), after=reaction)
    await simulator.faults(serverErrors=0)
    (record,) = await home.until_history(1)

    async def rated(stars):
        (record,) = await home.history()
        return record.get("rating", {}).get("stars") == stars

    await simulator.until("the rating", lambda: rated(4))
    # A rating has the resolution of a second.
    await home.ask("/rate 2", text("ratingSaved", stars=2))
    await simulator.until("the other rating", lambda: rated(2))
    answer = await home.ask("/history", lambda answer: answer.startswith("Masala chai, "))
    check(answer.endswith("⭐⭐") and not answer.endswith("⭐⭐⭐"), f"{answer}")
    stored = await simulator.requests("PUT", f"/v1/history/{record['id']}")
    check(sum(entry["status"] == 201 for entry in stored) == 1, f"{stored}")


async def preferences(stage):
    """Both sides change while the other is away: the later value counts, and no added allergen is lost."""
    home = await household(stage, "preferences")
    text, simulator = home.text, home.simulator

    async def cloud():
        status, value = await simulator.api("GET", "/v1/preferences")
        check(status == 200, f"preferences: {status} {value}")
        return value

    async def until_cloud(what, fits):
        async def found():
            value = await cloud()
            return value if fits(value) else None

        return await simulator.until(what, found)

    await home.ask("/prefs spice mild", text("preferenceSet", name="spice", value="mild"))
    await home.ask("/allergens Asha milk", text("allergensSet", person="Asha", allergens="milk"))
    await until_cloud("both changes", lambda value: value["values"].get("spice", {}).get("text") == "mild"
                      and [person["allergens"] for person in value["people"]] == [["milk"]])

    # The other way, by the live stream.
    base = await cloud()
    base["values"]["oil"] = {"text": "little", "updatedAt": int(time.time())}
    status, _ = await simulator.api("PUT", "/v1/preferences", base, If_Match=str(base["version"]))
    check(status == 200, f"PUT: {status}")
    await home.ask_until("/prefs", lambda answer: "oil: little" in answer.splitlines(), "the cloud's change")

    # The cloud is away for the bot; then the cloud's own change is there first.
    base = await cloud()
    await simulator.faults(serverErrors=FOREVER)
    changed = int(time.time())
    await home.ask("/allergens Asha milk, peanut", lambda answer: answer.startswith("Allergens of Asha: milk, peanut"))
    await home.ask("/prefs oil much", lambda answer: answer.startswith("oil: much"))
    await home.ask_until(
        "/prefs spice hot", lambda answer: answer == "spice: hot\n" + text("preferenceWaiting"), "the waiting change")
    base["values"]["spice"] = {"text": "medium", "updatedAt": changed + 3_600}
    base["values"]["oil"] = {"text": "none", "updatedAt": changed - 3_600}
    base["people"] = [{"person": "Asha", "allergens": ["milk", "sesame"], "updatedAt": changed - 3_600}]
    # The worker stands still, so that the cloud's change is the first.
    worker = await home.bot.worker_pid()
    os.kill(worker, signal.SIGSTOP)
    try:
        await simulator.faults(serverErrors=0)
        status, _ = await simulator.api("PUT", "/v1/preferences", base, If_Match=str(base["version"]))
    finally:
        os.kill(worker, signal.SIGCONT)
    check(status == 200, f"PUT: {status}")
    merged = await until_cloud("the merged state", lambda value: value["values"]["oil"]["text"] == "much")
    check(merged["values"]["spice"]["text"] == "medium", f"the later change is lost: {merged}")
    check(sorted(merged["people"][0]["allergens"]) == ["milk", "peanut", "sesame"], f"an allergen is lost: {merged}")
    await home.ask_until("/prefs", lambda answer: answer == "oil: much\nspice: medium", "the merged state")


async def appliances(stage):
    """Two appliances: names, states, and commands that have to say which."""
    home = await household(stage, "appliances", speed=1)
    text = home.text
    await home.pair("B2", SECOND)
    await home.ask("/rename 1 Big pot", text("applianceRenamed", name="Big pot"))
    await home.ask("/rename 2 Small pot", text("applianceRenamed", name="Small pot"))
    status, listed = await home.simulator.api("GET", "/v1/appliances")
    check([one["name"] for one in listed["items"]] == ["Big pot", "Small pot"], f"{status} {listed}")
    await home.ask("/cook chai", text("applianceChoose", names="Big pot, Small pot"))
    await home.ask("/cook chai @Small pot", text("cookStarted", title="Masala chai"))
    await home.ask_until(
        "/status", lambda answer: answer == "1. Big pot: ready\n2. Small pot: cooking", "one that cooks")
    await home.ask("/cook dal-tadka @1", text("cookStarted", title="Dal tadka"))
    await home.ask("/pause @2", text("cookPaused", title="Masala chai"))
    await home.ask_until(
        "/status", lambda answer: answer == "1. Big pot: cooking\n2. Small pot: paused", "one that is paused")
    # Without a name it stops all.
    before = await home.say("/stop")
    for title in ("Masala chai", "Dal tadka"):
        await home.until(text("cookStopped", title=title), after=before)
    check((await home.simulator.log())["stops"] == 2, await home.simulator.summary())
    await home.simulator.faults(applianceOffline=True, localOffline=True)
    # The bot learns that the local network has gone when it tries to use it.
    for number in (1, 2):
        await home.ask(f"/cook chai @{number}", text("cookOffline"))
    await home.ask_until(
        "/status", lambda answer: answer == "1. Big pot: offline\n2. Small pot: offline", "both offline")


async def groceries(stage):
    """A checklist from recipes, and planned meals with a reminder in the chat's time zone."""
    home = await household(stage, "groceries")
    text = home.text
    await home.ask("/recipes", lambda answer: "Masala chai" in answer)
    await home.ask("/groceries", text("groceriesEmpty"))
    await home.ask("/groceries add chai 4", text("groceriesAdded", title="Masala chai"))
    await home.ask("/groceries add dal-tadka", text("groceriesAdded", title="Dal tadka"))
    answer = await home.ask("/groceries item bread", lambda answer: answer.startswith(text("groceriesTitle")))
    lines = answer.splitlines()[1:]
    # 400 ml for four servings of tea and a litre for the lentils.
    wanted = ["4 tsp Black tea", "bread", "30 g Ghee", "20 g Ginger", "250 g Lentils", "400 ml Milk",
              "5 g Mustard seeds", "4 tsp Sugar", "3 Tomatoes", "1.4 l Water"]
    check(lines == [f"☐ {number}. {item}" for number, item in enumerate(wanted, 1)], f"{answer}")
    await home.ask("/groceries check 2", lambda answer: "☑ 2. bread" in answer.splitlines())
    answer = await home.ask("/groceries clear", lambda answer: answer.startswith(text("groceriesTitle")))
    check(len(answer.splitlines()) == 10 and "bread" not in answer, f"{answer}")
    await home.ask("/groceries", text("groceriesEmpty"), home.private)

    await home.ask("/plan", text("planEmpty"))
    await home.ask("/plan 2020-01-01 19:30 chai", text("planTimeWrong"))
    await home.ask("/plan zone Asia/Kolkata", text("planEmpty"))
    await home.ask("/plan before 1440", text("planEmpty"))
    # Tomorrow at this time less two minutes, in the zone of the chat: the reminder was due two minutes ago. In UTC it
    # would be due five and a half hours later.
    meal = (datetime.now(ZoneInfo("Asia/Kolkata")) + timedelta(hours=24, minutes=-2)).strftime("%Y-%m-%d %H:%M")
    before = await home.say(f"/plan {meal} chai 3")
    await home.until(text("planAdded", title="Masala chai", time=meal), after=before)
    reminder = await home.until(text("planReminder", title="Masala chai", time=meal), after=before)
    named = {tag[1] for tag in reminder["tags"] if tag[0] == "p"}
    check({home.asha.pubkey, home.ravi.pubkey} <= named, f"{reminder}")
    await home.ask("/plan", f"1. {meal} Masala chai (3)")
    # It is told once, also after a restart.
    await home.bot.kill_worker(await home.bot.worker_pid())
    await home.ask("/plan remove 1", text("planEmpty"))
    count = home.texts(home.group).count(text("planReminder", title="Masala chai", time=meal))
    check(count == 1, f"reminded {count} times")


async def languages(stage):
    """A session in a chat in Hindi, printed as text; the private chat and Tamil beside it."""
    home = await household(stage, "languages", speed=CALM)
    text = home.text
    await home.ask("/language klingon", lambda answer: answer.startswith("Unknown language."))
    await home.ask("/language தமிழ்", text("languageSet", "ta", language="தமிழ்"), home.private)
    await home.ask("/groceries", text("groceriesEmpty", "ta"), home.private)
    hindi = {"title": "मसाला चाय"}
    await home.ask("/language hindi", text("languageSet", "hi", language="हिन्दी"))
    await home.ask("/allergens आशा दूध", text("allergensSet", "hi", person="आशा", allergens="दूध"))
    before = await home.say("/recipes चाय")
    found = await home.until(lambda answer: answer.startswith("1. मसाला चाय — "), after=before)
    check("⚠️ आशा: दूध" in found["content"], f"{found['content']}")
    before = await home.say("/cook 1")
    await home.until(text("cookStarting", "hi", **hindi), after=before)
    await home.until(text("cookStarted", "hi", **hindi), after=before)
    await home.until(text("cookStep", "hi", step=1, text="पानी और अदरक उबालें।"), after=before)
    await home.until(text("cookStep", "hi", step=3, text="दूध डालकर धीमी आँच पर पकाएँ।"), after=before)
    await home.until(text("cookFinished", "hi", **hindi), after=before)
    await home.ask("/rate 5", text("ratingSaved", "hi", stars=5))
    await home.ask("/groceries add 1", text("groceriesAdded", "hi", **hindi))
    await home.ask("/status", lambda answer: answer.endswith(text("stateIdle", "hi")))
    await home.ask("/stop", text("stopAcknowledged", "hi"))
    await home.ask("/language en", text("languageSet", language="English"))
    await home.ask("/groceries", text("groceriesEmpty", "ta"), home.private)
    print("".join(f"  | {line}\n" for line in home.transcript().splitlines()), end="", flush=True)


async def offline_member(stage):
    """A member who is away gets everything from the relay later: the bot writes ordinary messages of the group."""
    home = await household(stage, "offline-member", speed=FAST)
    text, ravi, asha = home.text, home.ravi, home.asha
    await ravi.stop_listening(home.group)
    before = await home.say("/cook chai")
    await home.until(text("cookFinished", title="Masala chai"), after=before)
    await home.ask("/history", lambda answer: answer.startswith("Masala chai, "))
    missed = len([message for message in asha.messages if message["group"] == home.group][before:])
    # Asha's two commands, and all that she has read of the bot.
    results = await ravi.read_once(home.group, missed + 2)
    check(results.count("application_message") >= missed + 2, f"Ravi read {results} of {missed + 2}")
    kinds = {message["kind"] for message in home.said(home.group) if not is_file(message)}
    check(kinds == {9}, f"kinds {kinds} in a group of the first generation")
    unmarked = [message["content"] for message in home.said(home.group)
                if not any(tag[0] == "pikabot-automated" for tag in message["tags"])]
    check(not unmarked, f"messages without the marker of programs: {unmarked}")
