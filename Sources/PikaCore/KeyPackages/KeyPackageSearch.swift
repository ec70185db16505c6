import Marmot
import Nostr

/// A search for peers' key packages: on this account's relays first, and on the relays that the peers' own lists name
/// as soon as these are known. Each relay is queried separately, so that a slow relay does not delay the others.
struct KeyPackageSearch: Sendable {
    /// The maximum number of packages examined per peer and kind, the newest ones: anyone can publish many.
    static let maximumCandidates = 10
    static let kinds: [Kind] = [.addressableKeyPackage, .keyPackage, .keyPackageRelays, .inboxRelays]

    /// The search result for one peer.
    struct Finding: Sendable {
        var verdict: KeyPackageVerdict
        var invitee: Invitee?
        /// The relays on which the peer expects Welcomes.
        var relays: [RelayURL]
    }

    /// One request to one relay.
    struct Request: Sendable, Hashable {
        let relay: RelayURL
        let peers: [PublicKey]

        var filter: Filter { Filter(authors: self.peers, kinds: KeyPackageSearch.kinds) }
    }

    private enum Reading: Sendable {
        case usable(Invitee)
        case bad(KeyPackageVerdict)
    }

    let peers: [PublicKey]
    private let ownRelays: [RelayURL]
    private let relaysPerPeer: Int
    private var relaysLeft: Int
    private var events: [EventID: Event] = [:]
    private var readings: [EventID: Reading] = [:]
    private var inFlight: [RelayURL: [PublicKey]] = [:]
    private var asked: [RelayURL: Set<PublicKey>] = [:]
    private var answered: [PublicKey: Set<RelayURL>] = [:]

    init(_ peers: [PublicKey], _ configuration: CoreConfiguration) {
        var seen: Set<PublicKey> = []
        self.peers = peers.filter { seen.insert($0).inserted }
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
        let lists = self.peers.map { (peer: $0, relays: self.namedRelays(of: $0)) }
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
            let isList = event.kind == .keyPackageRelays || event.kind == .inboxRelays
            if isList, (try? event.verify()) == nil { continue }
            self.events[event.id] = event
        }
    }

    /// Whether every relay has answered or failed, or no better result is to be expected.
    mutating func isOver(for group: MarmotGroup?, now: UnixTime) -> Bool {
        if self.inFlight.isEmpty { return true }
        let isHomeRead = !self.ownRelays.contains { self.inFlight[$0] != nil }
        for peer in self.peers {
            let named = self.namedRelays(of: peer)
            let isKnown = named.isEmpty ? isHomeRead : named.contains { self.answered[peer]?.contains($0) == true }
            guard isKnown, self.finding(peer, for: group, now: now).verdict.isUsable else { return false }
        }
        return true
    }

    private func namedRelays(of peer: PublicKey) -> [RelayURL] {
        let list = RelayListEvents.relays(.keyPackageRelays, of: peer, in: self.events.values) ?? []
        return Array(list.prefix(self.relaysPerPeer))
    }

    // MARK: Evaluation

    mutating func findings(for group: MarmotGroup?, now: UnixTime) -> [PublicKey: Finding] {
        var findings: [PublicKey: Finding] = [:]
        for peer in self.peers { findings[peer] = self.finding(peer, for: group, now: now) }
        return findings
    }

    /// Returns the newest usable package, kind 30443 before 443. Packages that lack a group requirement are skipped.
    private mutating func finding(_ peer: PublicKey, for group: MarmotGroup?, now: UnixTime) -> Finding {
        var problem: KeyPackageVerdict?
        for event in self.candidates(peer) {
            switch self.read(event, now: now) {
            case .bad(let verdict): problem = problem ?? verdict
            case .usable(let invitee):
                do { try invitee.requireSupport(of: group) } catch {
                    problem = problem ?? .incompatible(reason: error.message)
                    continue
                }
                let found = FoundKeyPackage(
                    event: event.id, kind: event.kind, createdAt: event.createdAt,
                    supportsSelfRemove: invitee.supportsSelfRemove)
                return Finding(
                    verdict: .usable(found), invitee: invitee, relays: self.welcomeRelays(peer, event))
            }
        }
        return Finding(verdict: problem ?? self.absence(of: peer), invitee: nil, relays: [])
    }

    private func candidates(_ peer: PublicKey) -> [Event] {
        let own = self.events.values.filter { $0.pubkey == peer }
        return [Kind.addressableKeyPackage, .keyPackage].flatMap { kind in
            own.filter { $0.kind == kind }.sorted { ($1.createdAt, $0.id) < ($0.createdAt, $1.id) }
                .prefix(Self.maximumCandidates)
        }
    }

    /// Reports a package as missing only if a relay that should have it answered.
    private func absence(of peer: PublicKey) -> KeyPackageVerdict {
        let named = self.namedRelays(of: peer)
        let answered = self.answered[peer] ?? []
        return answered.isDisjoint(with: named.isEmpty ? self.ownRelays : named) ? .noRelayAnswered : .missing
    }

    private mutating func read(_ event: Event, now: UnixTime) -> Reading {
        if let reading = self.readings[event.id] { return reading }
        let reading: Reading
        do throws(KeyPackageFailure) {
            reading = .usable(try Invitee(examining: event, now: now))
        } catch { reading = .bad(KeyPackageVerdict(error)) }
        self.readings[event.id] = reading
        return reading
    }

    /// The peer's inbox relays first (NIP-17), then those where older clients look: the key package relay list's, and
    /// the package's own.
    private func welcomeRelays(_ peer: PublicKey, _ package: Event) -> [RelayURL] {
        let inbox = RelayListEvents.relays(.inboxRelays, of: peer, in: self.events.values) ?? []
        let stated = (try? KeyPackageEvents.relays(of: package)) ?? []
        var seen: Set<RelayURL> = []
        let all = (inbox + self.namedRelays(of: peer) + stated).filter { seen.insert($0).inserted }
        return Array(all.prefix(self.relaysPerPeer))
    }
}
