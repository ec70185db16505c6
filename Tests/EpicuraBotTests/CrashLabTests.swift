import Appliance
import BotKit
import EpicuraSimulator
import LiveTesting
import PikaCore
import Testing

@testable import BotTesting
@testable import EpicuraBot

/// Ends the bot at single commits, as `kill -9` does.
@Suite(.bounded)
struct CrashLabTests {
    /// Runs the bot again as often as it has crashed, and connects its stream.
    private func heal(_ home: Household) async throws {
        let old = home.connections.connections.count
        guard try await home.bot.heal() > 0 else { return }
        try await home.lab.advance(by: .seconds(2))
        if home.connections.connections.count > old, let connection = home.connections.connections.last {
            try await home.lab.run { await connection.connect() }
        }
    }

    @Test(arguments: 1...10) func startIsNeverRepeated(_ commit: Int) async throws {
        let home = try await Household(seed: 700 + UInt64(commit))
        defer { home.remove() }
        home.bot.crash(.after(commit: home.bot.store.commitCount + commit))
        try await home.say("/cook chai")
        try await heal(home)
        try await home.lab.advance(by: .seconds(30))
        // The crash may have been planned for a commit that came later.
        try await heal(home)
        try await home.lab.advance(by: .seconds(30))
        #expect(home.starts <= 1)
        // Without a crash in between, another session could begin, but none does by itself.
        let starts = home.starts
        try await home.lab.advance(by: .seconds(120))
        #expect(home.starts == starts)
        let told = home.heard().filter { $0 == "Masala chai is cooking." }
        #expect(told.count == starts)
    }

    @Test(arguments: 1...10) func historyIsNeitherLostNorDoubled(_ commit: Int) async throws {
        let home = try await Household(seed: 720 + UInt64(commit))
        defer { home.remove() }
        try await home.say("/cook chai")
        try await home.deliver()
        let events = try home.cloud.cook(seconds: 700)
        home.bot.crash(.after(commit: home.bot.store.commitCount + commit))
        for event in events {
            guard !home.bot.hasCrashed, let connection = home.connections.connections.last else { break }
            try? await home.lab.run { await connection.deliver(event) }
        }
        try await home.lab.advance(by: .seconds(2))
        try await heal(home)
        // The stream sends again what was not acknowledged.
        if let connection = home.connections.connections.last {
            for event in events { try? await home.lab.run { await connection.deliver(event) } }
        }
        for _ in 0..<2 {
            try await home.lab.advance(by: .seconds(310))
            try await heal(home)
        }
        #expect(home.cloud.cloud.history.count == 1)
        let ends = home.heard().filter { $0.hasPrefix("Masala chai is ready.") }
        #expect(ends.count == 1)
    }
}
