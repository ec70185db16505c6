import BotKit
import LiveTesting
import Testing

@testable import BotConfiguration

struct ConfiguredSecretsTests {
    private func read(
        _ reference: BotSettings, in folder: String = "/", _ environment: [String: String] = [:]
    ) async -> Result<String, BotError> {
        do throws(BotError) {
            return .success(try await ConfiguredSecrets(folder: folder, environment: environment).read(reference))
        } catch {
            return .failure(error)
        }
    }

    @Test func readsEachKindOfReference() async throws {
        try await inTemporaryFolder { folder in
            try writeFile("from a file\n", to: folder + "/token")
            try writeFile("ünïcode", to: folder + "/credential")
            let environment = ["TOKEN": "from a variable", "CREDENTIALS_DIRECTORY": folder, "PATH": "/usr/bin:/bin"]
            #expect(await read(.object(["file": .string("token")]), in: folder) == .success("from a file"))
            #expect(await read(.object(["file": .string(folder + "/token")])) == .success("from a file"))
            #expect(await read(.object(["env": .string("TOKEN")]), environment) == .success("from a variable"))
            #expect(await read(.object(["credential": .string("credential")]), environment) == .success("ünïcode"))
            let command = BotSettings.array([
                .string("sh"), .string("-c"), .string("echo $0-$1"), .int(7), .string("x"),
            ])
            #expect(await read(.object(["command": command]), environment) == .success("7-x"))
            // Changed secrets are read again.
            try writeFile("another", to: folder + "/token")
            #expect(await read(.object(["file": .string("token")]), in: folder) == .success("another"))
        }
    }

    private func read(_ reference: BotSettings, _ environment: [String: String]) async -> Result<String, BotError> {
        await read(reference, in: "/", environment)
    }

    @Test func reportsErrors() async throws {
        try await inTemporaryFolder { folder in
            try writeFile("secret", to: folder + "/open", mode: 0o644)
            try writeFile("two\nlines\n", to: folder + "/lines")
            try writeFile("", to: folder + "/empty")
            func message(_ name: String) async -> String? {
                if case .failure(let error) = await read(.object(["file": .string(name)]), in: folder) {
                    #expect(error.code == .noSecret)
                    return error.message.replacing(folder + "/", with: "")
                }
                return nil
            }
            #expect(await message("open") == "open: mode is 0644, so others can read it; run: chmod 600 open")
            #expect(await message("lines") == "lines: expected exactly one line of text")
            #expect(await message("empty") == "empty: expected exactly one line of text")
            #expect(await message("absent") == "absent: No such file or directory")
        }
    }

    @Test(arguments: [
        BotSettings.string("abc"), .null, .object([:]), .object(["vault": .string("x")]),
        .object(["file": .string("a"), "env": .string("B")]), .object(["file": .int(1)]),
        .object(["command": .array([])]),
        .object(["command": .array([.array([])])]), .object(["credential": .string("../x")]),
        .object(["command": .string("pass show x")]),
    ])
    func refusesNonReferences(settings: BotSettings) async {
        #expect(
            await read(settings)
                == .failure(
                    BotError(
                        .noSecret,
                        "a secret is { file: PATH }, { env: NAME }, { credential: NAME } or { command: […] }")))
    }
}
