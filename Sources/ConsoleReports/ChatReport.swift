/// A chat in the list of an account. Times are Unix seconds.
package struct ChatReport: Codable, Hashable, Sendable {
    package var id: String
    package var name = ""
    package var members = 0
    package var epoch: UInt64 = 0
    package var lastAt: Int64?
    package var isActive = true
    package var isGroup = true
    /// The protocol generation, `v1` or `v2`.
    package var generation = ""
    /// The state of the group's history, in words; nil if nothing is undecided.
    package var divergence: String?
    /// The reason why nothing can be sent; nil if something can.
    package var ended: String?

    package init(id: String) {
        self.id = id
    }
}

/// One chat with its members, its commits since the worker's start, and its newest messages.
package struct ChatDetail: Codable, Hashable, Sendable {
    package var chat: ChatReport
    package var description = ""
    package var relays: [String] = []
    package var members: [MemberReport] = []
    package var proposals: [String] = []
    package var moments: [MomentReport] = []
    package var messages: [MessageReport] = []
    /// Whether the messages have their text.
    package var hasContents = false

    package init(chat: ChatReport) {
        self.chat = chat
    }
}

package struct MemberReport: Codable, Hashable, Sendable {
    package var npub: String
    package var name: String?
    package var isAdmin: Bool
    package var isSelf: Bool

    package init(npub: String, name: String?, isAdmin: Bool, isSelf: Bool) {
        self.npub = npub
        self.name = name
        self.isAdmin = isAdmin
        self.isSelf = isSelf
    }
}

/// A point of a chat's time line: a join, a commit, a withdrawn message, or a change of the history's state.
package struct MomentReport: Codable, Hashable, Sendable {
    package enum Kind: String, Codable, Hashable, Sendable {
        case joined, commit, withdrawn, restored, divergence
    }

    package var at: Int64
    package var kind: Kind
    package var actor: String?
    package var epoch: UInt64?
    package var changes: [String] = []
    /// Whether the commit replaced another one that had been applied.
    package var isRollback = false

    package init(at: Int64, kind: Kind) {
        self.at = at
        self.kind = kind
    }
}

package struct MessageReport: Codable, Hashable, Sendable {
    package var id: String
    package var sender: String
    package var at: Int64
    package var epoch: UInt64
    package var kind: Int
    package var isOwn: Bool
    /// `received`, `pending`, `sent` or `failed`.
    package var delivery: String
    package var reason: String?
    /// Nil unless the configuration shows contents.
    package var content: String?

    package init(
        id: String, sender: String, at: Int64, epoch: UInt64, kind: Int, isOwn: Bool, delivery: String,
        reason: String? = nil, content: String? = nil
    ) {
        self.id = id
        self.sender = sender
        self.at = at
        self.epoch = epoch
        self.kind = kind
        self.isOwn = isOwn
        self.delivery = delivery
        self.reason = reason
        self.content = content
    }
}
