import Marmot
import Nostr

/// A search for peers' key packages of either generation: on this account's relays first, and on the relays that the
/// peers' own lists name as soon as these are known. Each relay is queried separately, so that a slow relay does not
/// delay the others.
struct KeyPackageSearch: Sendable {
    static let kinds: [Kind] = [.addressableKeyPackage, .keyPackage] + Self.lists
    private static let lists: [Kind] = [.keyPackageRelays, .inboxRelays, .relayList]

    /// The purpose of a search, which decides when it has found enough.
    enum Purpose: Sendable, Hashable {
        /// Invite the peers to a group of this generation, or to a new one.
        case invitation(GroupProtocol)
        /// Report the peers' key packages.
        case report
    }

    /// One request to one relay.
    struct Request: Sendable, Hashable {
        let relay: RelayURL
        let peers: [PublicKey]

        var filter: Filter { Filter(authors: self.peers, kinds: KeyPackageSearch.kinds) }
    }

    let peers: [PublicKey]
    private let purpose: Purpose
    private let ownRelays: [RelayURL]
    private let relaysPerPeer: Int
    private var relaysLeft: Int
    private var found = FoundKeyPackages()
    /// The peers' relay lists.
    private var lists: [EventID: Event] = [:]
    private var inFlight: [RelayURL: [PublicKey]] = [:]
    private var asked: [RelayURL: Set<PublicKey>] = [:]
    private var answered: [PublicKey: Set<RelayURL>] = [:]

    init(_ peers: [PublicKey], _ configuration: CoreConfiguration, for purpose: Purpose = .report) {
        var seen: Set<PublicKey> = []
        self.peers = peers.filter { seen.insert($0).inserted }
        self.purpose = purpose
        self.ownRelays = configuration.homeRelays
        self.relaysPerPeer = configuration.maximumPeerRelays
        self.relaysLeft = configuration.maximumSearchRelays
    }

    // MARK: Requests

    /// Returns the next requests to send; they count as sent from here on.
    mutating func nextRequests() -> [Request] {
        var wanted: [RelayURL: [PublicKey]] = [:]
        var order: [RelayURL] = []
        func want(_ relay: RelayURL, _ peer: PublicKey) {
            if wanted[relay] == nil { order.append(relay) }
            wanted[relay, default: []].append(peer)
        }
        for relay in self.ownRelays { for peer in self.peers { want(relay, peer) } }
        // The first relay of every peer comes before any peer's second: the number of relays is limited.
        let lists = self.generations.flatMap { generation in
            self.peers.map { (peer: $0, relays: self.namedRelays(of: $0, generation)) }
        }
        for position in 0..<self.relaysPerPeer {
            for (peer, relays) in lists where position < relays.count { want(relays[position], peer) }
        }
        var requests: [Request] = []
        for relay in order where self.inFlight[relay] == nil {
            let peers = (wanted[relay] ?? []).filter { self.asked[relay]?.contains($0) != true }
            guard !peers.isEmpty else { continue }
            if self.asked[relay] == nil, !self.ownRelays.contains(relay) {
                guard self.relaysLeft > 0 else { continue }
                self.relaysLeft -= 1
            }
            self.asked[relay, default: []].formUnion(peers)
            self.inFlight[relay] = peers
            requests.append(Request(relay: relay, peers: peers))
        }
        return requests
    }

    /// Records a relay's answer. Events by authors other than the peers are ignored.
    mutating func receive(_ outcome: FetchOutcome, from relay: RelayURL) {
        let peers = self.inFlight.removeValue(forKey: relay) ?? []
        guard case .events(let events) = outcome else { return }
        for peer in peers { self.answered[peer, default: []].insert(relay) }
        for event in events where peers.contains(event.pubkey) && Self.kinds.contains(event.kind) {
            if !Self.lists.contains(event.kind) {
                self.found.add(event)
            } else if (try? event.verify()) != nil {
                self.lists[event.id] = event
            }
        }
    }

    /// The generations whose packages are of interest.
    private var generations: [GroupGeneration] {
        switch self.purpose {
        case .invitation(.v1): [.v1]
        case .invitation(.v2): [.v2]
        case .invitation(.auto), .report: [.v2, .v1]
        }
    }

    /// Whether every relay has answered or failed, or no better result is to be expected.
    ///
    /// - Parameter group: the group that the peers are to join; nil if it does not exist yet.
    mutating func isOver(for group: AccountGroup?, now: UnixTime) -> Bool {
        if self.inFlight.isEmpty { return true }
        let isHomeRead = !self.ownRelays.contains { self.inFlight[$0] != nil }
        func isKnown(_ generation: GroupGeneration) -> Bool {
            self.peers.allSatisfy { peer in
                let named = self.namedRelays(of: peer, generation)
                return named.isEmpty ? isHomeRead : named.contains { self.answered[peer]?.contains($0) == true }
            }
        }
        guard isKnown(self.purpose == .invitation(.v1) ? .v1 : .v2) else { return false }
        let findings = self.findings(for: group, now: now)
        func isUsable(_ generation: GroupGeneration) -> Bool {
            self.peers.allSatisfy { findings[$0]?.verdict(in: generation).isUsable == true }
        }
        switch self.purpose {
        case .invitation(.v1): return isUsable(.v1)
        case .invitation(.v2): return isUsable(.v2)
        // The first generation is used only if a peer lacks a package of the second.
        case .invitation(.auto): return isUsable(.v2) || isKnown(.v1) && isUsable(.v1)
        case .report: return isKnown(.v1) && self.peers.allSatisfy { findings[$0]?.verdict.isUsable == true }
        }
    }

    /// Returns the relays on which a peer's own list places its key packages of a generation.
    private func namedRelays(of peer: PublicKey, _ generation: GroupGeneration) -> [RelayURL] {
        let list: [RelayURL]
        switch generation {
        case .v1: list = RelayListEvents.relays(.keyPackageRelays, of: peer, in: self.lists.values) ?? []
        case .v2: list = RelayLists.writeRelays(of: peer, in: self.lists.values)
        }
        return Array(list.prefix(self.relaysPerPeer))
    }

    // MARK: Evaluation

    mutating func findings(for group: AccountGroup?, now: UnixTime) -> [PublicKey: KeyPackageFinding] {
        var findings: [PublicKey: KeyPackageFinding] = [:]
        for peer in self.peers { findings[peer] = self.finding(peer, for: group, now: now) }
        return findings
    }

    private mutating func finding(_ peer: PublicKey, for group: AccountGroup?, now: UnixTime) -> KeyPackageFinding {
        let first = self.found.first(of: peer, for: group, now: now)
        let second = self.found.second(of: peer, for: group, now: now)
        return KeyPackageFinding(
            first: first.chosen, second: second.chosen,
            firstProblem: first.problem ?? self.absence(of: peer, .v1),
            secondProblem: second.problem ?? self.absence(of: peer, .v2),
            relays: [
                .v1: self.welcomeRelays(peer, .v1, stated: first.chosen?.event),
                .v2: self.welcomeRelays(peer, .v2, stated: nil),
            ])
    }

    /// Reports a package as missing only if a relay that should have it answered.
    private func absence(of peer: PublicKey, _ generation: GroupGeneration) -> KeyPackageVerdict {
        let named = self.namedRelays(of: peer, generation)
        let answered = self.answered[peer] ?? []
        return answered.isDisjoint(with: named.isEmpty ? self.ownRelays : named) ? .noRelayAnswered : .missing
    }

    /// The peer's inbox relays first (NIP-17), then those where older clients look: where its key packages are, and in
    /// the first generation those that the package states.
    private func welcomeRelays(
        _ peer: PublicKey, _ generation: GroupGeneration, stated package: Event?
    ) -> [RelayURL] {
        let inbox = RelayListEvents.relays(.inboxRelays, of: peer, in: self.lists.values) ?? []
        let stated = package.flatMap { try? KeyPackageEvents.relays(of: $0) } ?? []
        let named = self.namedRelays(of: peer, generation)
        var seen: Set<RelayURL> = []
        return Array((inbox + named + stated).filter { seen.insert($0).inserted }.prefix(self.relaysPerPeer))
    }
}
