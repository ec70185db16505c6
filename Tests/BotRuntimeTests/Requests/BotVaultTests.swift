import BotTesting
import Testing

@testable import BotKit

struct BotVaultTests {
    private let records = MemoryRecords()

    private func vault(_ bot: String = "cook") -> BotVault { BotVault(bot: bot, records: records) }

    @Test func keepsSecretsAcrossRestarts() async throws {
        try await vault().set(BotSecret("s3cret"), for: "token")
        try await vault().set(BotSecret([0, 255]), for: "key")
        let names = try await vault().names()
        #expect(names == ["key", "token"])
        let token = try await vault().secret("token")
        #expect(token == BotSecret("s3cret"))
        let others = try await vault("other").names()
        #expect(others.isEmpty)
        try await vault().remove("token")
        let removed = try await vault().secret("token")
        #expect(removed == nil)
    }

    @Test func concurrentChangesAllStay() async throws {
        let vault = vault()
        try await withThrowingDiscardingTaskGroup { group in
            for number in 0..<40 { group.addTask { try await vault.set(BotSecret("\(number)"), for: "s\(number)") } }
        }
        let names = try await BotVault(bot: "cook", records: records).names()
        #expect(names.count == 40)
    }

    @Test(arguments: [false, true]) func failedWriteIsReadAgain(losesAnswer: Bool) async throws {
        let vault = vault()
        try await vault.set(BotSecret("old"), for: "token")
        records.fail(afterWrites: 0, losesAnswer: losesAnswer)
        await #expect(throws: BotError.self) { try await vault.set(BotSecret("new"), for: "token") }
        let token = try await vault.secret("token")
        #expect(token?.text == (losesAnswer ? "new" : "old"))
    }

    @Test func refusesTooMuch() async throws {
        let vault = vault()
        for name in ["", "A", "a b", String(repeating: "a", count: 65)] {
            await #expect(throws: BotError.self) { try await vault.set(BotSecret("x"), for: name) }
        }
        let long = BotSecret([UInt8](repeating: 1, count: 4_097))
        await #expect(throws: BotError.self) { try await vault.set(long, for: "long") }
        for number in 0..<64 { try await vault.set(BotSecret("x"), for: "s\(number)") }
        await #expect(throws: BotError.self) { try await vault.set(BotSecret("x"), for: "s64") }
        let names = try await vault.names()
        #expect(names.count == 64)
        #expect(records.writes == 64)
    }

    @Test func refusesDamagedRecords() throws {
        var contents = VaultContents()
        try contents.apply(["a": BotSecret("1"), "b": BotSecret("22")])
        let bytes = contents.bytes
        #expect(VaultContents(bytes) == contents)
        for count in 0..<bytes.count { #expect(VaultContents(Array(bytes[..<count])) == nil) }
        #expect(VaultContents(bytes + [0]) == nil)
        for index in bytes.indices {
            var damaged = bytes
            damaged[index] ^= 0x80
            // A changed byte of a secret is caught by the seal around the record.
            _ = VaultContents(damaged)
        }
        #expect(VaultContents([1] + [UInt8](repeating: 255, count: 8)) == nil)
    }

    @Test func descriptionsHideSecrets() {
        #expect("\(BotSecret("s3cret"))" == "BotSecret(6 bytes)")
        #expect("\(TokenPair(access: BotSecret("abc"), refresh: BotSecret("def")))".contains("abc") == false)
    }
}
