import BotKit
import Foundation

extension Kind {
    /// The inner kind of canaries; like that of answers, unknown to other clients, which display nothing.
    static let canary: Kind = 20_446
    static let canaryAnswer: Kind = 20_447
}

/// A canary or its answer: its number, and its author's view of the group.
struct CanaryMessage: Codable, Sendable, Hashable {
    private static let maximumBytes = 512

    /// The id of the sender's numbering; a sender that has lost its state starts a new one.
    var series: String
    /// The canary's number in its series, from 1.
    var number: Int64
    var view: GroupView

    init(series: String, number: Int64, view: GroupView) {
        self.series = series
        self.number = number
        self.view = view
    }

    /// Parses a canary or an answer; nil if the content has another format.
    init?(content: String) {
        guard content.utf8.count <= Self.maximumBytes,
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

/// A member's view of a group.
struct GroupView: Codable, Sendable, Hashable {
    var epoch: UInt64
    /// A hash of the members in hexadecimal, equal for equal members; not a protection against dishonest mirrors.
    var members: String

    init(epoch: UInt64, members: [PublicKey]) {
        self.epoch = epoch
        // FNV-1a, 64 bits.
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in members.map(\.hex).sorted().joined().utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        self.members = String(hash, radix: 16)
    }

    init(_ chat: AppState.ChatSummary) {
        self.init(epoch: chat.epoch, members: chat.allMembers.map(\.publicKey))
    }
}
