import BotProgram
import Foundation
import Nostr
import Synchronization

/// Prints the demo's conversation: time, name and text.
final class DemoConsole: Sendable {
    private let began = ContinuousClock.now
    private let names = Mutex<[(key: PublicKey, name: String)]>([])

    var elapsed: Duration { ContinuousClock.now - began }

    /// Shows this key by this name from now on.
    func introduce(_ key: PublicKey, as name: String) {
        names.withLock { $0.append((key, name)) }
    }

    /// Prints an action.
    func tell(_ who: String, _ what: String) {
        line(who, "· " + what)
    }

    /// Prints a message in the group, with its response time if it is an answer.
    func say(_ who: String, _ text: String, after latency: Duration? = nil) {
        let shown = named(text.split(separator: "\n").joined(separator: " "))
        line(who, "» " + shown + (latency.map { "   (after \($0.inMilliseconds))" } ?? ""))
    }

    private func line(_ who: String, _ text: String) {
        let time = String(format: "%6.2f s", elapsed / .seconds(1))
        Console.print("\(time)  \(who.padding(toLength: 7, withPad: " ", startingAt: 0)) \(text)")
    }

    /// Replaces keys, complete or abbreviated by bots, with names.
    private func named(_ text: String) -> String {
        names.withLock { names in
            names.reduce(text) { text, entry in
                text.replacingOccurrences(of: entry.key.npub, with: entry.name)
                    .replacingOccurrences(of: entry.key.hex, with: entry.name)
                    .replacingOccurrences(of: entry.key.hex.prefix(8), with: entry.name)
            }
        }
    }
}
