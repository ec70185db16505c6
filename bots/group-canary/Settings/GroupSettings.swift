import BotKit

/// A group to which canaries are sent.
struct GroupSettings: Sendable {
    private static let maximumPeers = 50

    struct Peer: Sendable, Hashable {
        let name: String
        let account: PublicKey
    }

    /// The name in the settings, used by metrics and logs.
    let name: String
    /// The existing group; nil creates one with the peers.
    let chatID: ChatID?
    /// The title of the created group, by which it is found again.
    let title: String
    /// The protocol generation of the created group; nil for the one that the account's configuration chooses.
    let groupProtocol: GroupProtocol?
    let peers: [Peer]
    /// The peers that answer canaries.
    let mirrors: [Peer]
    let checks: [AnswerCheck]

    init(_ name: String, _ reader: SettingsReader, checksEvery: Duration) {
        self.name = name
        chatID = reader.parsed("chat", expected: "a chat id", fix: "write its hex digits") { value in
            value.stringValue.flatMap { ChatID(reference: $0) }
        }
        title = reader.string("title", default: "canary \(name)")
        groupProtocol = reader.choice("protocol", of: GroupProtocol.self)
        if chatID != nil, reader.has("protocol") {
            reader.fail(
                "protocol", expected: "a protocol only for a group that the sender creates",
                found: "the setting chat, which names an existing group", fix: "remove one of the two")
        }
        let peers = Self.peers(reader)
        self.peers = peers
        if title.utf8.count > 100 { reader.fail("title", expected: "at most 100 bytes", fix: "use a shorter one") }
        let wanted = reader.strings("mirrors")
        mirrors = wanted.map { names in peers.filter { names.contains($0.name) } } ?? peers
        for name in wanted ?? [] where !peers.contains(where: { $0.name == name }) {
            reader.fail("mirrors", expected: "names of peers", fix: "use names listed under peers")
        }
        if let wanted, wanted.isEmpty {
            reader.fail("mirrors", expected: "at least one mirror", fix: "name one of the peers, or remove mirrors")
        }
        var number = 0
        checks = reader.list("checks") { check in
            number += 1
            return AnswerCheck(check, number: number, peers: peers, every: checksEvery)
        }
        if Set(checks.map(\.name)).count < checks.count {
            reader.fail(
                "checks", expected: "unique names", found: "a duplicate name", fix: "give each check its own name")
        }
    }

    /// Whether a group of this generation is the one that the settings ask for.
    func admits(_ generation: GroupGeneration) -> Bool {
        switch groupProtocol {
        case .v1?: generation == .v1
        case .v2?: generation == .v2
        case .auto?, nil: true
        }
    }

    func peer(_ account: PublicKey) -> Peer? { peers.first { $0.account == account } }

    private static func peers(_ reader: SettingsReader) -> [Peer] {
        guard let names = reader.object("peers", required: true) else { return [] }
        if names.keys.isEmpty || names.keys.count > maximumPeers {
            reader.fail(
                "peers", expected: "1 to \(maximumPeers) accounts", found: "\(names.keys.count)",
                fix: "write peers: { bob: npub1… }")
        }
        return names.keys.compactMap { name in
            names.checkLabel(name)
            return names.publicKey(name).map { Peer(name: name, account: $0) }
        }
    }
}
