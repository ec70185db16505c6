/// Mistakes in the file as a whole, its relays, its state, its accounts and their keys.
let wrongFileConfigurations: [WrongConfiguration] = [
    WrongConfiguration(
        "emptyFile",
        #"""

        """#,
        [
            #"bot.yaml:1:1: expected a configuration, found an empty file; begin with version: 1"#
        ]),
    WrongConfiguration(
        "onlyAComment",
        #"""
        # nothing

        """#,
        [
            #"bot.yaml:1:1: expected a configuration, found an empty file; begin with version: 1"#
        ]),
    WrongConfiguration(
        "aListAsRoot",
        #"""
        - version: 1

        """#,
        [
            #"bot.yaml:1:1: expected a mapping with one of version, relays, state, accounts, media, supervisor, observe, found a list; write it as { version: … } or remove it"#
        ]),
    WrongConfiguration(
        "missingEverything",
        #"""
        {}

        """#,
        [
            #"bot.yaml:1:1: expected the key version, found none; add version: 1"#,
            #"bot.yaml:1:1: expected the key relays, found none; add relays: [wss://relay.example]"#,
            #"bot.yaml:1:1: expected the key accounts, found none; add accounts: [ { name: …, key: … } ]"#,
        ]),
    WrongConfiguration(
        "wrongVersion",
        #"""
        version: 2
        relays: [wss://relay.example]
        accounts:
          - name: greeter
            key: { env: GREETER_KEY }

        """#,
        [
            #"bot.yaml:1:10: version: expected version 1, the only one there is, found "2"; write version: 1"#
        ]),
    WrongConfiguration(
        "unknownTopLevelKey",
        #"""
        version: 1
        relays: [wss://relay.example]
        accounts:
          - name: greeter
            key: { env: GREETER_KEY }
        relay: x

        """#,
        [
            #"bot.yaml:6:1: expected one of version, relays, state, accounts, media, supervisor, observe, found the unknown key "relay"; write relays"#
        ]),
    WrongConfiguration(
        "unknownKeyFarFromAll",
        #"""
        version: 1
        relays: [wss://relay.example]
        accounts:
          - name: greeter
            key: { env: GREETER_KEY }
        colour: blue

        """#,
        [
            #"bot.yaml:6:1: expected one of version, relays, state, accounts, media, supervisor, observe, found the unknown key "colour"; remove it"#
        ]),
    WrongConfiguration(
        "relaysNotAList",
        #"""
        version: 1
        relays: wss://relay.example
        accounts:
          - name: greeter
            key: { env: GREETER_KEY }

        """#,
        [
            #"bot.yaml:2:9: relays: expected a list of relay addresses, found "wss://relay.example"; write relays: [wss://relay.example]"#
        ]),
    WrongConfiguration(
        "relaysEmpty",
        #"""
        version: 1
        relays: []
        accounts:
          - name: greeter
            key: { env: GREETER_KEY }

        """#,
        [
            #"bot.yaml:2:9: relays: expected at least one relay, found an empty list; write relays: [wss://relay.example]"#
        ]),
    WrongConfiguration(
        "relayOverHTTP",
        #"""
        version: 1
        relays: [https://relay.example]
        accounts:
          - name: greeter
            key: { env: GREETER_KEY }

        """#,
        [
            #"bot.yaml:2:10: relays[0]: expected a relay address, found "https://relay.example"; write a ws:// or wss:// address, such as wss://relay.example"#
        ]),
    WrongConfiguration(
        "relayTwice",
        #"""
        version: 1
        relays: [wss://relay.example, wss://RELAY.example/]
        accounts:
          - name: greeter
            key: { env: GREETER_KEY }

        """#,
        [
            #"bot.yaml:2:31: relays[1]: expected each relay once, found "wss://RELAY.example/"; remove one of the two"#
        ]),
    WrongConfiguration(
        "stateWithoutDirectory",
        #"""
        version: 1
        relays: [wss://relay.example]
        accounts:
          - name: greeter
            key: { env: GREETER_KEY }
        state: {}

        """#,
        [
            #"bot.yaml:6:8: state: expected the key directory, found none; add directory: ./state"#
        ]),
    WrongConfiguration(
        "stateAsText",
        #"""
        version: 1
        relays: [wss://relay.example]
        accounts:
          - name: greeter
            key: { env: GREETER_KEY }
        state: ./state

        """#,
        [
            #"bot.yaml:6:8: state: expected a mapping with directory, found "./state"; write it as { directory: … } or remove it"#
        ]),
    WrongConfiguration(
        "stateDirectoryEmpty",
        #"""
        version: 1
        relays: [wss://relay.example]
        accounts:
          - name: greeter
            key: { env: GREETER_KEY }
        state: { directory: }

        """#,
        [
            #"bot.yaml:6:21: state.directory: expected a path, found nothing; write directory: ./state"#
        ]),
    WrongConfiguration(
        "noAccounts",
        #"""
        version: 1
        relays: [wss://relay.example]
        accounts: []

        """#,
        [
            #"bot.yaml:3:11: accounts: expected at least one account, found an empty list; write accounts: and below it - name: …"#
        ]),
    WrongConfiguration(
        "accountsAsMapping",
        #"""
        version: 1
        relays: [wss://relay.example]
        accounts:
          name: greeter

        """#,
        [
            #"bot.yaml:4:3: accounts: expected a list of accounts, found a mapping; write accounts: and below it - name: …"#
        ]),
    WrongConfiguration(
        "accountWithoutNameAndKey",
        #"""
        version: 1
        relays: [wss://relay.example]
        accounts:
          - bots: []

        """#,
        [
            #"bot.yaml:4:5: accounts[0]: expected the key name, found none; add name: greeter"#,
            #"bot.yaml:4:5: accounts[0]: expected the key key, found none; add key: { file: secrets/account.nsec }"#,
        ]),
    WrongConfiguration(
        "badAccountName",
        #"""
        version: 1
        relays: [wss://relay.example]
        accounts:
          - name: Greeter Bot
            key: { env: GREETER_KEY }

        """#,
        [
            #"bot.yaml:4:11: accounts[0].name: expected 1 to 32 of a-z, 0-9 and -, found "Greeter Bot"; write such as name: greeter"#
        ]),
    WrongConfiguration(
        "accountNameTwice",
        #"""
        version: 1
        relays: [wss://relay.example]
        accounts:
          - name: greeter
            key: { env: GREETER_KEY }
          - name: greeter
            key: { env: OTHER }

        """#,
        [
            #"bot.yaml:6:11: accounts[1].name: expected a name that no other account has, found "greeter"; rename one of the two"#
        ]),
    WrongConfiguration(
        "keyInline",
        #"""
        version: 1
        relays: [wss://relay.example]
        accounts:
          - name: greeter
            key: 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef

        """#,
        [
            #"bot.yaml:5:10: accounts[0].key: expected a reference with one of file, env, credential, command, found a value (not shown); write such as key: { file: secrets/account.nsec }"#
        ]),
    WrongConfiguration(
        "keyInlineNsec",
        #"""
        version: 1
        relays: [wss://relay.example]
        accounts:
          - name: greeter
            key: nsec1vl029mgpspedva04g90vltkh6fvh240zqtv9k0t9af8935ke9laqsnlfe5

        """#,
        [
            #"bot.yaml:5:10: accounts[0].key: expected no secret in this file, found what looks like a secret key (not shown); move it to a file of mode 0600, write key: { file: PATH }, and treat the key as known to others"#
        ]),
    WrongConfiguration(
        "keyFileHoldsNsec",
        #"""
        version: 1
        relays: [wss://relay.example]
        accounts:
          - name: greeter
            key: { file: nsec1vl029mgpspedva04g90vltkh6fvh240zqtv9k0t9af8935ke9laqsnlfe5 }

        """#,
        [
            #"bot.yaml:5:18: accounts[0].key.file: expected no secret in this file, found what looks like a secret key (not shown); move it to a file of mode 0600, write key: { file: PATH }, and treat the key as known to others"#
        ]),
    WrongConfiguration(
        "nsecInSettings",
        #"""
        version: 1
        relays: [wss://relay.example]
        accounts:
          - name: greeter
            key: { env: GREETER_KEY }
            bots:
              - use: echo
                with: { note: "my key is nsec1vl029mgpspedva04g90vltkh6fvh240zqtv9k0t9af8935ke9laqsnlfe5" }

        """#,
        [
            #"bot.yaml:8:23: accounts[0].bots[0].with.note: expected no secret in this file, found what looks like a secret key (not shown); move it to a file of mode 0600, write key: { file: PATH }, and treat the key as known to others"#
        ]),
    WrongConfiguration(
        "nsecAsUnknownKey",
        #"""
        version: 1
        relays: [wss://relay.example]
        accounts:
          - name: greeter
            key: { env: GREETER_KEY }
        nsec1vl029mgpspedva04g90vltkh6fvh240zqtv9k0t9af8935ke9laqsnlfe5: 1

        """#,
        [
            #"bot.yaml:6:1: expected no secret in this file, found what looks like a secret key (not shown); move it to a file of mode 0600, write key: { file: PATH }, and treat the key as known to others"#
        ]),
    WrongConfiguration(
        "keyWithTwoSources",
        #"""
        version: 1
        relays: [wss://relay.example]
        accounts:
          - name: greeter
            key: { env: A, file: b }

        """#,
        [
            #"bot.yaml:5:10: accounts[0].key: expected exactly one of file, env, credential, command, found file and env; write such as key: { file: secrets/account.nsec }"#
        ]),
    WrongConfiguration(
        "keyWithNoSource",
        #"""
        version: 1
        relays: [wss://relay.example]
        accounts:
          - name: greeter
            key: {}

        """#,
        [
            #"bot.yaml:5:10: accounts[0].key: expected exactly one of file, env, credential, command, found none of them; write such as key: { file: secrets/account.nsec }"#
        ]),
    WrongConfiguration(
        "keyWithUnknownSource",
        #"""
        version: 1
        relays: [wss://relay.example]
        accounts:
          - name: greeter
            key: { flie: b }

        """#,
        [
            #"bot.yaml:5:12: accounts[0].key: expected one of file, env, credential, command, found the unknown key "flie"; write file"#
        ]),
    WrongConfiguration(
        "encryptedKeyWithoutPassword",
        #"""
        version: 1
        relays: [wss://relay.example]
        accounts:
          - name: greeter
            key: { ncryptsec: { file: k } }

        """#,
        [
            #"bot.yaml:5:10: accounts[0].key: expected the key password, found none; add password: { credential: password }"#
        ]),
    WrongConfiguration(
        "passwordWithoutEncryptedKey",
        #"""
        version: 1
        relays: [wss://relay.example]
        accounts:
          - name: greeter
            key: { password: { file: p } }

        """#,
        [
            #"bot.yaml:5:10: accounts[0].key: expected the key ncryptsec, found none; add ncryptsec: { file: secrets/account.ncryptsec }"#
        ]),
    WrongConfiguration(
        "encryptedKeyInline",
        #"""
        version: 1
        relays: [wss://relay.example]
        accounts:
          - name: greeter
            key: { ncryptsec: ncryptsec1qgg9947rlpvqu76pj5, password: hunter2 }

        """#,
        [
            #"bot.yaml:5:23: accounts[0].key.ncryptsec: expected a reference with one of file, env, credential, command, found a value (not shown); write such as ncryptsec: { file: secrets/account.ncryptsec }"#,
            #"bot.yaml:5:63: accounts[0].key.password: expected a reference with one of file, env, credential, command, found a value (not shown); write such as password: { credential: password }"#,
        ]),
    WrongConfiguration(
        "encryptedKeyWithAnotherSource",
        #"""
        version: 1
        relays: [wss://relay.example]
        accounts:
          - name: greeter
            key: { ncryptsec: { file: k }, password: { file: p }, env: K }

        """#,
        [
            #"bot.yaml:5:59: accounts[0].key: expected one of ncryptsec, password, found the unknown key "env"; remove it"#
        ]),
    WrongConfiguration(
        "encryptedKeyInAnEncryptedKey",
        #"""
        version: 1
        relays: [wss://relay.example]
        accounts:
          - name: greeter
            key: { ncryptsec: { ncryptsec: { file: k } }, password: { file: p, env: P } }

        """#,
        [
            #"bot.yaml:5:25: accounts[0].key.ncryptsec: expected one of file, env, credential, command, found the unknown key "ncryptsec"; remove it"#,
            #"bot.yaml:5:61: accounts[0].key.password: expected exactly one of file, env, credential, command, found file and env; write such as password: { credential: password }"#,
        ]),
    WrongConfiguration(
        "keyVariableWithDollar",
        #"""
        version: 1
        relays: [wss://relay.example]
        accounts:
          - name: greeter
            key: { env: "${KEY}" }

        """#,
        [
            #"bot.yaml:5:17: accounts[0].key.env: expected the name of an environment variable, found "${KEY}"; write such as env: GREETER_KEY"#
        ]),
    WrongConfiguration(
        "credentialWithSlash",
        #"""
        version: 1
        relays: [wss://relay.example]
        accounts:
          - name: greeter
            key: { credential: ../x }

        """#,
        [
            #"bot.yaml:5:24: accounts[0].key.credential: expected the name of a systemd credential, found "../x"; write such as credential: greeter.nsec"#
        ]),
    WrongConfiguration(
        "bunkerInline",
        #"""
        version: 1
        relays: [wss://relay.example]
        accounts:
          - name: greeter
            key: { bunker: "bunker://fa98?relay=wss://relay.example&secret=hunter2" }

        """#,
        [
            #"bot.yaml:5:20: accounts[0].key.bunker: expected a reference with one of file, env, credential, command, found a value (not shown); write such as key: { bunker: { file: secrets/bunker.url } }"#
        ]),
    WrongConfiguration(
        "bunkerInBunker",
        #"""
        version: 1
        relays: [wss://relay.example]
        accounts:
          - name: greeter
            key: { bunker: { bunker: { file: x } } }

        """#,
        [
            #"bot.yaml:5:22: accounts[0].key.bunker: expected one of file, env, credential, command, found the unknown key "bunker"; remove it"#
        ]),
    WrongConfiguration(
        "commandAsText",
        #"""
        version: 1
        relays: [wss://relay.example]
        accounts:
          - name: greeter
            key: { command: pass show x }

        """#,
        [
            #"bot.yaml:5:21: accounts[0].key.command: expected a list of a program and its arguments, found "pass show x"; write such as command: [pass, show, greeter]"#
        ]),
    WrongConfiguration(
        "commandEmpty",
        #"""
        version: 1
        relays: [wss://relay.example]
        accounts:
          - name: greeter
            key: { command: [] }

        """#,
        [
            #"bot.yaml:5:21: accounts[0].key.command: expected a program and its arguments, found an empty list; write such as command: [pass, show, greeter]"#
        ]),
    WrongConfiguration(
        "mediaServers",
        #"""
        version: 1
        relays: [wss://relay.example]
        accounts:
          - name: greeter
            key: { file: k }
        media: { servers: [wss://media.example, https://media.example, https://media.example], server: x }

        """#,
        [
            #"bot.yaml:6:20: media.servers[0]: expected the address of a media server, found "wss://media.example"; write an http:// or https:// address, such as https://media.example"#,
            #"bot.yaml:6:64: media.servers[2]: expected each server once, found "https://media.example"; remove one of the two"#,
            #"bot.yaml:6:88: media: expected servers, found the unknown key "server"; write servers"#,
        ]),
]
