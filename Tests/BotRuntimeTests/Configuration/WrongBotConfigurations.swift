/// Mistakes in invitations, bots, supervision, observation, and in the YAML itself.
let wrongBotConfigurations: [WrongConfiguration] = [
    WrongConfiguration(
        "acceptUnknown",
        #"""
        version: 1
        relays: [wss://relay.example]
        accounts:
          - name: greeter
            key: { env: GREETER_KEY }
            invites: { accept: anyon }

        """#,
        [
            #"bot.yaml:6:24: accounts[0].invites.accept: expected one of anyone, nobody, allowlist, found "anyon"; write anyone"#
        ]),
    WrongConfiguration(
        "invitesWithoutAccept",
        #"""
        version: 1
        relays: [wss://relay.example]
        accounts:
          - name: greeter
            key: { env: GREETER_KEY }
            invites: { form: [] }

        """#,
        [
            #"bot.yaml:6:14: accounts[0].invites: expected the key accept, found none; add accept: allowlist"#,
            #"bot.yaml:6:16: accounts[0].invites: expected one of accept, from, found the unknown key "form"; write from"#,
        ]),
    WrongConfiguration(
        "selfUpdateThatIsNone",
        #"""
        version: 1
        relays: [wss://relay.example]
        accounts:
          - name: greeter
            key: { env: GREETER_KEY }
            selfUpdate: { afterJoining: 60s..5s, every: 10m, after: 1d }

        """#,
        [
            #"bot.yaml:6:33: accounts[0].selfUpdate.afterJoining: expected a range of durations, the smaller first, or never, found "60s..5s"; write such as 5s..60s"#,
            #"bot.yaml:6:49: accounts[0].selfUpdate.every: expected a duration of an hour or more, or never, found "10m"; write such as 7d"#,
            #"bot.yaml:6:54: accounts[0].selfUpdate: expected one of afterJoining, every, found the unknown key "after"; remove it"#,
        ]),
    WrongConfiguration(
        "profilesThatAreNeitherTrueNorFalse",
        #"""
        version: 1
        relays: [wss://relay.example]
        accounts:
          - name: greeter
            key: { env: GREETER_KEY }
            profiles: yes

        """#,
        [
            #"bot.yaml:6:15: accounts[0].profiles: expected true or false, found "yes"; write true only if the bots need the names of members: relays learn who they are"#
        ]),
    WrongConfiguration(
        "retentionThatIsTooShort",
        #"""
        version: 1
        relays: [wss://relay.example]
        accounts:
          - name: greeter
            key: { env: GREETER_KEY }
            retention: { messages: 5m }
          - name: second
            key: { env: SECOND_KEY }
            retention: { newest: 0 }
          - name: third
            key: { env: THIRD_KEY }
            retention: { unhandled: never }
          - name: fourth
            key: { env: FOURTH_KEY }
            retention: { maximumUnhandled: all, message: 1d }

        """#,
        [
            #"bot.yaml:6:28: accounts[0].retention.messages: expected a duration of an hour or more, or forever, found "5m"; write such as 90d"#,
            #"bot.yaml:9:26: accounts[1].retention.newest: expected a number from 1 on, or all, found "0"; write such as 10000"#,
            #"bot.yaml:12:29: accounts[2].retention.unhandled: expected a duration of an hour or more, or forever, found "never"; write such as 90d"#,
            #"bot.yaml:15:36: accounts[3].retention.maximumUnhandled: expected a whole number from 1 to 1000000, found "all"; write such a number"#,
            #"bot.yaml:15:41: accounts[3].retention: expected one of messages, newest, unhandled, maximumUnhandled, found the unknown key "message"; write messages"#,
        ]),
    WrongConfiguration(
        "allowlistWithoutFrom",
        #"""
        version: 1
        relays: [wss://relay.example]
        accounts:
          - name: greeter
            key: { env: GREETER_KEY }
            invites: { accept: allowlist }

        """#,
        [
            #"bot.yaml:6:14: accounts[0].invites: expected the key from, found none; add from: [npub1…]"#
        ]),
    WrongConfiguration(
        "allowlistEmpty",
        #"""
        version: 1
        relays: [wss://relay.example]
        accounts:
          - name: greeter
            key: { env: GREETER_KEY }
            invites: { accept: allowlist, from: [] }

        """#,
        [
            #"bot.yaml:6:41: accounts[0].invites.from: expected at least one public key, found an empty list; write from: [npub1…]"#
        ]),
    WrongConfiguration(
        "allowlistWithBadKeys",
        #"""
        version: 1
        relays: [wss://relay.example]
        accounts:
          - name: greeter
            key: { env: GREETER_KEY }
            invites: { accept: allowlist, from: [npub1xyz, alice] }

        """#,
        [
            #"bot.yaml:6:42: accounts[0].invites.from[0]: expected a public key, found "npub1xyz"; write an npub1… or 64 hex digits, as the account's owner gives it"#,
            #"bot.yaml:6:52: accounts[0].invites.from[1]: expected a public key, found "alice"; write an npub1… or 64 hex digits, as the account's owner gives it"#,
        ]),
    WrongConfiguration(
        "fromWithAnyone",
        #"""
        version: 1
        relays: [wss://relay.example]
        accounts:
          - name: greeter
            key: { env: GREETER_KEY }
            invites: { accept: anyone, from: [7bdef7be22dd8e59f4600e044aa53a1cf975a9dc7d27df5833bc77db784a5805] }

        """#,
        [
            #"bot.yaml:6:38: accounts[0].invites.from: expected no list unless accept is allowlist, found one; remove from or write accept: allowlist"#
        ]),
    WrongConfiguration(
        "unknownBot",
        #"""
        version: 1
        relays: [wss://relay.example]
        accounts:
          - name: greeter
            key: { env: GREETER_KEY }
            bots:
              - use: ehco

        """#,
        [
            #"bot.yaml:7:14: accounts[0].bots[0].use: expected a bot: one of echo, responder, found "ehco"; write use: echo"#
        ]),
    WrongConfiguration(
        "unknownBotFarFromAll",
        #"""
        version: 1
        relays: [wss://relay.example]
        accounts:
          - name: greeter
            key: { env: GREETER_KEY }
            bots:
              - use: weather

        """#,
        [
            #"bot.yaml:7:14: accounts[0].bots[0].use: expected a bot: one of echo, responder, found "weather"; use a bot that this program has"#
        ]),
    WrongConfiguration(
        "botWithoutUse",
        #"""
        version: 1
        relays: [wss://relay.example]
        accounts:
          - name: greeter
            key: { env: GREETER_KEY }
            bots:
              - groups: { default: all }

        """#,
        [
            #"bot.yaml:7:9: accounts[0].bots[0]: expected the key use, found none; add use: echo"#
        ]),
    WrongConfiguration(
        "groupScopeUnknown",
        #"""
        version: 1
        relays: [wss://relay.example]
        accounts:
          - name: greeter
            key: { env: GREETER_KEY }
            bots:
              - use: echo
                groups: { default: mentions }

        """#,
        [
            #"bot.yaml:8:28: accounts[0].bots[0].groups.default: expected one of all, mention, none, found "mentions"; write mention"#
        ]),
    WrongConfiguration(
        "groupsAsText",
        #"""
        version: 1
        relays: [wss://relay.example]
        accounts:
          - name: greeter
            key: { env: GREETER_KEY }
            bots:
              - use: echo
                groups: all

        """#,
        [
            #"bot.yaml:8:17: accounts[0].bots[0].groups: expected a mapping with default, found "all"; write it as { default: … } or remove it"#
        ]),
    WrongConfiguration(
        "badRates",
        #"""
        version: 1
        relays: [wss://relay.example]
        accounts:
          - name: greeter
            key: { env: GREETER_KEY }
            bots:
              - use: echo
                limits: { perSender: 6, perGroup: 30/day, botPair: -1 }

        """#,
        [
            #"bot.yaml:8:30: accounts[0].bots[0].limits.perSender: expected a rate, found "6"; write N/s, N/min or N/h, such as 6/min"#,
            #"bot.yaml:8:43: accounts[0].bots[0].limits.perGroup: expected a rate, found "30/day"; write N/s, N/min or N/h, such as 6/min"#,
            #"bot.yaml:8:60: accounts[0].bots[0].limits.botPair: expected a whole number from 0 to 1000, found "-1"; write such a number"#,
        ]),
    WrongConfiguration(
        "unknownLimit",
        #"""
        version: 1
        relays: [wss://relay.example]
        accounts:
          - name: greeter
            key: { env: GREETER_KEY }
            bots:
              - use: echo
                limits: { persender: 6/min }

        """#,
        [
            #"bot.yaml:8:19: accounts[0].bots[0].limits: expected one of perSender, perGroup, botPair, found the unknown key "persender"; write perSender"#
        ]),
    WrongConfiguration(
        "withAsList",
        #"""
        version: 1
        relays: [wss://relay.example]
        accounts:
          - name: greeter
            key: { env: GREETER_KEY }
            bots:
              - use: echo
                with: [1]

        """#,
        [
            #"bot.yaml:8:15: accounts[0].bots[0].with: expected a mapping, found a list; write with: { key: value } or remove it"#
        ]),
    WrongConfiguration(
        "settingsKeyNotAWord",
        #"""
        version: 1
        relays: [wss://relay.example]
        accounts:
          - name: greeter
            key: { env: GREETER_KEY }
            bots:
              - use: echo
                with: { [a]: 1 }

        """#,
        [
            #"bot.yaml:8:17: accounts[0].bots[0].with: expected a word as key, found a list; write the key as a word"#
        ]),
    WrongConfiguration(
        "restartTypo",
        #"""
        version: 1
        relays: [wss://relay.example]
        accounts:
          - name: greeter
            key: { env: GREETER_KEY }
        supervisor: { restart: { stratgy: one_for_one } }

        """#,
        [
            #"bot.yaml:6:26: supervisor.restart: expected one of strategy, intensity, period, backoff, found the unknown key "stratgy"; write strategy"#
        ]),
    WrongConfiguration(
        "restartValues",
        #"""
        version: 1
        relays: [wss://relay.example]
        accounts:
          - name: greeter
            key: { env: GREETER_KEY }
        supervisor:
          restart:
            strategy: one-for-one
            intensity: many
            period: 60
            backoff: 30s..1s
          drain: 0s

        """#,
        [
            #"bot.yaml:8:15: supervisor.restart.strategy: expected one of one_for_one, one_for_all, rest_for_one, found "one-for-one"; write one_for_one"#,
            #"bot.yaml:9:16: supervisor.restart.intensity: expected a whole number from 0 to 1000, found "many"; write such a number"#,
            #"bot.yaml:10:13: supervisor.restart.period: expected a duration, found "60"; write a number and one of ms, s, m, h, d, such as 10s"#,
            #"bot.yaml:11:14: supervisor.restart.backoff: expected a range of durations, the smaller first, found "30s..1s"; write such as 1s..30s"#,
            #"bot.yaml:12:10: supervisor.drain: expected a duration, found "0s"; write a number and one of ms, s, m, h, d, such as 10s"#,
        ]),
    WrongConfiguration(
        "backoffWithThreeDots",
        #"""
        version: 1
        relays: [wss://relay.example]
        accounts:
          - name: greeter
            key: { env: GREETER_KEY }
        supervisor: { restart: { backoff: 1s...30s } }

        """#,
        [
            #"bot.yaml:6:35: supervisor.restart.backoff: expected a range of durations, the smaller first, found "1s...30s"; write such as 1s..30s"#
        ]),
    WrongConfiguration(
        "observeValues",
        #"""
        version: 1
        relays: [wss://relay.example]
        accounts:
          - name: greeter
            key: { env: GREETER_KEY }
        observe:
          listen: 9464
          logs: xml
          level: verbose

        """#,
        [
            #"bot.yaml:7:11: observe.listen: expected HOST:PORT, found "9464"; write such as 127.0.0.1:9464 or [::1]:9464"#,
            #"bot.yaml:8:9: observe.logs: expected one of text, json, found "xml"; write one of them"#,
            #"bot.yaml:9:10: observe.level: expected one of trace, debug, info, notice, warning, error, critical, found "verbose"; write one of them"#,
        ]),
    WrongConfiguration(
        "portTooLarge",
        #"""
        version: 1
        relays: [wss://relay.example]
        accounts:
          - name: greeter
            key: { env: GREETER_KEY }
        observe: { listen: 127.0.0.1:70000 }

        """#,
        [
            #"bot.yaml:6:20: observe.listen: expected HOST:PORT, found "127.0.0.1:70000"; write such as 127.0.0.1:9464 or [::1]:9464"#
        ]),
    WrongConfiguration(
        "nullSupervisor",
        #"""
        version: 1
        relays: [wss://relay.example]
        accounts:
          - name: greeter
            key: { env: GREETER_KEY }
        supervisor:

        """#,
        [
            #"bot.yaml:6:12: supervisor: expected a mapping with one of restart, drain, found nothing; write it as { restart: … } or remove it"#
        ]),
    WrongConfiguration(
        "duplicateKey",
        #"""
        version: 1
        relays: [wss://relay.example]
        accounts:
          - name: greeter
            key: { env: GREETER_KEY }
        version: 1

        """#,
        [
            #"bot.yaml:1:1: expected each key once in a mapping, found "version" more than once; remove one of them"#
        ]),
    WrongConfiguration(
        "duplicateNestedKey",
        #"""
        version: 1
        relays: [wss://relay.example]
        accounts:
          - name: greeter
            key: { env: GREETER_KEY }
            key: { env: B }

        """#,
        [
            #"bot.yaml:5:5: expected each key once in a mapping, found "key" more than once; remove one of them"#
        ]),
    WrongConfiguration(
        "unclosedBracket",
        #"""
        version: 1
        relays: [wss://relay.example
        accounts: []

        """#,
        [
            #"bot.yaml:3:9: expected valid YAML, found an error: did not find expected ',' or ']'; correct the YAML there; quotes around a text with special characters often help"#
        ]),
    WrongConfiguration(
        "tabAsIndentation",
        #"""
        version: 1
        state:
        	directory: x

        """#,
        [
            #"bot.yaml:3:1: expected valid YAML, found an error: found character that cannot start any token; correct the YAML there; quotes around a text with special characters often help"#
        ]),
    WrongConfiguration(
        "duplicateKeyInQuotes",
        #"""
        version: 1
        relays: [wss://relay.example]
        accounts:
          - name: greeter
            key: { env: GREETER_KEY }
            bots:
              - use: echo
                with: { a: 1, b: { x: 1 }, b: 2 }

        """#,
        [
            #"bot.yaml:8:23: expected each key once in a mapping, found "b" more than once; remove one of them"#
        ]),
    WrongConfiguration(
        "duplicateNumberAndText",
        #"""
        version: 1
        relays: [wss://relay.example]
        accounts:
          - name: greeter
            key: { env: GREETER_KEY }
            bots:
              - use: echo
                with: { 1: 1, "1": 2 }

        """#,
        [
            #"bot.yaml:8:23: accounts[0].bots[0].with: expected each key once in a mapping, found "1"; remove one of them"#
        ]),
    WrongConfiguration(
        "tooManyLevels",
        #"""
        version: 1
        relays: [wss://relay.example]
        accounts:
          - name: greeter
            key: { env: GREETER_KEY }
        observe: [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]

        """#,
        [
            #"bot.yaml:6:42: observe[0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0][0]: expected at most 32 levels, found more; make the file simpler"#
        ]),
    WrongConfiguration(
        "undefinedAlias",
        #"""
        version: 1
        relays: [wss://relay.example]
        accounts:
          - name: greeter
            key: { env: GREETER_KEY }
        observe: *nothing

        """#,
        [
            #"bot.yaml:6:10: expected valid YAML, found an error: found undefined alias; correct the YAML there; quotes around a text with special characters often help"#
        ]),
    WrongConfiguration(
        "twoDocuments",
        #"""
        version: 1
        relays: [wss://relay.example]
        accounts:
          - name: greeter
            key: { env: GREETER_KEY }
        ---
        version: 1

        """#,
        [
            #"bot.yaml:6:1: expected valid YAML, found an error: but found another document; correct the YAML there; quotes around a text with special characters often help"#
        ]),
    WrongConfiguration(
        "controlCharacter",
        #"""
        version: 1
        relays: [wss://relay.example]
        accounts:
          - name: greeter
            key: { env: GREETER_KEY }
        state: { directory: "a\#u{1}" }

        """#,
        [
            #"bot.yaml:6:1: expected valid YAML, found an error: control characters are not allowed; remove the character"#
        ]),
    WrongConfiguration(
        "aliasAsKey",
        #"""
        a: &a [x]
        ? *a
        : 1

        """#,
        [
            #"bot.yaml:2:1: expected keys that are plain words, found an alias or a collection as a key; write the key as a word"#
        ]),
]
