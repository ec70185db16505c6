import Foundation
import LiveTesting
import Testing

@testable import BotConfiguration

/// Missing targets of a file's references.
struct ReferenceCheckTests {
    private func missing(
        _ bots: String, key: String = "{ env: KEY }", in folder: String, _ environment: [String: String] = [:]
    ) throws -> [String] {
        let yaml = """
            version: 1
            relays: [wss://relay.example]
            accounts:
              - name: greeter
                key: \(key)
                bots: [\(bots)]
            """
        let file = try ConfigurationFile(yaml, file: "bot.yaml", folder: folder, known: KnownBots(names: ["echo"]))
        let environment = ["KEY": "k", "PATH": "/usr/bin:/bin"].merging(environment) { $1 }
        return file.missing(environment: environment).map { $0.description.replacing(folder, with: "FOLDER") }
    }

    @Test func acceptsCompleteEnvironment() throws {
        try withTemporaryFolder { folder in
            try writeFile("k", to: folder + "/key")
            try FileManager.default.createDirectory(atPath: folder + "/bots", withIntermediateDirectories: true)
            try writeFile("#!/bin/sh", to: folder + "/bots/scribe", mode: 0o700)
            try writeFile("", to: folder + "/bots/scribe.sh")
            let bots = """
                { use: echo, with: { token: { file: key }, token2: { file: absent } } },
                { command: [./bots/scribe], environment: { TOKEN: { file: key } } },
                { command: [sh, scribe.sh, absent], directory: bots },
                { command: [sh, -c, exit] }
                """
            #expect(try missing(bots, key: "{ file: key }", in: folder) == [])
            #expect(try missing("", key: "{ credential: key }", in: folder, ["CREDENTIALS_DIRECTORY": folder]) == [])
            #expect(try missing("", key: "{ command: [sh, -c, exit] }", in: folder) == [])
        }
    }

    @Test func reportsMissingSecrets() throws {
        try withTemporaryFolder { folder in
            try writeFile("k", to: folder + "/open", mode: 0o644)
            let cases = [
                (
                    "{ file: absent }",
                    "5:18: accounts[0].key.file: expected a file with the secret, found FOLDER/absent: No such file or "
                        + "directory; put the secret there, or correct the path"
                ),
                (
                    "{ file: . }",
                    "5:18: accounts[0].key.file: expected a file with the secret, found FOLDER: not a regular file; "
                        + "put the secret there, or correct the path"
                ),
                (
                    "{ file: open }",
                    "5:18: accounts[0].key.file: expected a file with the secret, found FOLDER/open: mode is 0644, so "
                        + "others can read it; run: chmod 600 FOLDER/open"
                ),
                (
                    "{ env: ABSENT }",
                    "5:17: accounts[0].key.env: expected a variable that is set, found none; set ABSENT where pikabot is "
                        + "started"
                ),
                (
                    "{ credential: key }",
                    "5:24: accounts[0].key.credential: expected credentials from systemd, found none: "
                        + "CREDENTIALS_DIRECTORY is not set; start under systemd with LoadCredential=key:PATH"
                ),
                (
                    "{ command: [no-such-program] }",
                    "5:21: accounts[0].key.command: expected an executable program, found none: no-such-program; "
                        + "install it, or add it to PATH"
                ),
                (
                    "{ command: [./open] }",
                    "5:21: accounts[0].key.command: expected an executable program, found FOLDER/open, which is not executable; "
                        + "run: chmod +x FOLDER/open"
                ),
                (
                    "{ bunker: { file: absent } }",
                    "5:28: accounts[0].key.bunker.file: expected a file with the secret, found FOLDER/absent: No such "
                        + "file or directory; put the secret there, or correct the path"
                ),
            ]
            for (key, message) in cases {
                #expect(try missing("", key: key, in: folder) == ["bot.yaml:" + message])
            }
            #expect(
                try missing("", key: "{ ncryptsec: { env: A }, password: { env: B } }", in: folder).map {
                    $0.prefix(13)
                }
                    == ["bot.yaml:5:30", "bot.yaml:5:52"])
        }
    }

    @Test func reportsMissingPrograms() throws {
        try withTemporaryFolder { folder in
            let bots = """
                { command: [./absent] }, { command: [sh, absent.sh] }, { command: [sh], directory: absent },
                  { command: [sh], environment: { TOKEN: { file: absent } } },
                  { use: echo, with: { hooks: [ { token: { env: ABSENT } } ] } }
                """
            let expected: [String] = [
                "bot.yaml:6:23: accounts[0].bots[0].command: expected an executable program, found none: "
                    + "FOLDER/absent; correct the path",
                "bot.yaml:6:53: accounts[0].bots[1].command[1]: expected a script, found none at FOLDER/absent.sh; "
                    + "correct the path; it is relative to the bot's directory",
                "bot.yaml:6:95: accounts[0].bots[2].directory: expected a directory, found none at FOLDER/absent; create "
                    + "the directory or correct the path",
                "bot.yaml:7:50: accounts[0].bots[3].environment.TOKEN.file: expected a file with the secret, found "
                    + "FOLDER/absent: No such file or directory; put the secret there, or correct the path",
                "bot.yaml:8:49: accounts[0].bots[4].with.hooks[0].token.env: expected a variable that is set, found "
                    + "none; set ABSENT where pikabot is started",
            ]
            let found = try missing(bots, in: folder)
            #expect(found == expected)
        }
    }

    @Test func missingFilesCanBeErrors() throws {
        try withTemporaryFolder { folder in
            try writeFile(
                "{ version: 1, relays: [wss://relay.example], accounts: [ { name: a, key: { file: k } } ] }",
                to: folder + "/bot.yaml")
            let file = try ConfigurationFile(path: folder + "/bot.yaml", registry: BotRegistry())
            let error = #expect(throws: ConfigurationError.self) { try file.requireReferences(environment: [:]) }
            #expect(error?.problems.map(\.keyPath) == ["accounts[0].key.file"])
            try writeFile("k", to: folder + "/k")
            try file.requireReferences(environment: [:])
        }
    }
}
