import BotKit
import Foundation

extension Kind {
    /// Inner kinds of canaries and their answers; clients that do not know them show nothing.
    static let canary: Kind = 20_446
    static let canaryAnswer: Kind = 20_447
}

/// A canary or its answer: which one it is, and what its author knows of the group.
struct CanaryMessage: Codable, Sendable, Hashable {
    private static let mostBytes = 512

    /// Tells one sender's numbers from those of another life without its state.
    var series: String
    /// From 1 on.
    var number: Int64
    var view: GroupView

    init(series: String, number: Int64, view: GroupView) {
        self.series = series
        self.number = number
        self.view = view
    }

    /// Nil for what no canary of this software says.
    init?(content: String) {
        guard content.utf8.count <= Self.mostBytes,
            let message = try? JSONDecoder().decode(Self.self, from: Data(content.utf8)), message.number > 0,
            (1...16).contains(message.series.utf8.count), message.view.members.utf8.count <= 16
        else { return nil }
        self = message
    }

    var content: String {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            return String(decoding: try encoder.encode(self), as: UTF8.self)
        }
    }
}

/// A group as one member sees it.
struct GroupView: Codable, Sendable, Hashable {
    var epoch: UInt64
    /// The same for the same members, in hexadecimal; no proof against a mirror that lies.
    var members: String

    init(epoch: UInt64, members: [PublicKey]) {
        self.epoch = epoch
        // FNV-1a, 64 bits.
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in members.map(\.hex).sorted().joined().utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        self.members = String(hash, radix: 16)
    }

    init(_ chat: AppState.ChatSummary) {
        self.init(epoch: chat.epoch, members: chat.members.map(\.publicKey))
    }
}
