import BotProgram
import Foundation
import Nostr
import Testing

@testable import pikabot

@Suite struct IdentityTests {
    @Test func identityFileIsPrivate() async throws {
        try await withTemporaryDirectory(named: "pikabot-tests") { directory in
            var generator = SystemRandomNumberGenerator()
            let key = KeyPair.generate(using: &generator)
            try StoredIdentity.save(key, to: directory)
            let path = StoredIdentity.path(in: directory)
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
            #expect(try StoredIdentity.load(from: directory).account == key.publicKey)
            let text = try String(contentsOfFile: path, encoding: .utf8)
            #expect(text.hasPrefix("{\n  \"secret_key_hex\": \""))
            #expect(text.hasSuffix("\"public_key_hex\": \"\(key.publicKey.hex)\"\n}\n"))
        }
    }

    @Test(arguments: ["", "{}", #"{"secret_key_hex":"00","public_key_hex":"00"}"#])
    func refusesWrongIdentityWithoutShowingIt(text: String) async throws {
        try await withTemporaryDirectory(named: "pikabot-tests") { directory in
            try text.write(toFile: StoredIdentity.path(in: directory), atomically: true, encoding: .utf8)
            let error = #expect(throws: CommandError.self) { try StoredIdentity.load(from: directory) }
            #expect(error?.description.contains("expected secret_key_hex") == true)
        }
    }

    @Test func movesPreviousIdentityCompletely() async throws {
        try await withTemporaryDirectory(named: "pikabot-tests") { directory in
            try SecretFile.writeNewKey(to: directory + "/sealing.key")
            try "{}".write(toFile: StoredIdentity.path(in: directory), atomically: true, encoding: .utf8)
            try FileManager.default.createDirectory(
                atPath: directory + "/media-cache", withIntermediateDirectories: false)
            let folder = try StoredIdentity.archive(in: directory)
            #expect(!StoredIdentity.exists(in: directory))
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == [
                    "identity.json", "media-cache", "sealing.key",
                ])
        }
    }
}
