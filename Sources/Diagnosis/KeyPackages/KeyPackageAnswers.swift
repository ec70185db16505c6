import Nostr
import PikaCore
import ProbeReports

/// Relays' answers about one account, and the relays to query next.
struct KeyPackageAnswers: Sendable {
    static let lists: [Kind] = [.keyPackageRelays, .inboxRelays, .relayList]
    static let kinds: [Kind] = [.addressableKeyPackage, .keyPackage] + lists

    let request: KeyPackageProbeRequest
    let configured: [RelayURL]
    /// All relays considered so far, in order.
    private(set) var relays: [RelayURL] = []
    private(set) var events: [RelayURL: [Event]] = [:]
    private(set) var failures: [RelayURL: String] = [:]
    private var listedLeft = KeyPackageProbe.maximumListedRelays

    init(_ request: KeyPackageProbeRequest, home: [RelayURL]) {
        self.request = request
        var seen: Set<RelayURL> = []
        configured = (request.relays + home).filter { seen.insert($0).inserted }
    }

    func isConfigured(_ relay: RelayURL) -> Bool { configured.contains(relay) }

    /// Returns the relays that were not considered yet, and marks them as considered.
    mutating func nextRelays() -> [RelayURL] {
        var next: [RelayURL] = []
        for relay in configured + Self.lists.flatMap({ listed($0) ?? [] })
        where !relays.contains(relay) && !next.contains(relay) {
            if !isConfigured(relay) {
                guard listedLeft > 0 else { break }
                listedLeft -= 1
            }
            next.append(relay)
        }
        relays += next
        return next
    }

    mutating func record(_ outcome: FetchOutcome, from relay: RelayURL) {
        switch outcome {
        case .failed(let reason): failures[relay] = Self.line(reason)
        case .events(let all):
            // Drop forged lists, which would redirect the search, but keep forged key packages, which are reported.
            let own = all.filter { event in
                event.pubkey == request.account
                    && (!Self.lists.contains(event.kind) || (try? event.verify()) != nil)
            }
            events[relay] = Self.kinds.flatMap { kind in
                own.filter { $0.kind == kind }.sorted { ($1.createdAt, $0.id) < ($0.createdAt, $1.id) }
                    .prefix(KeyPackageProbe.maximumEvents)
            }
        }
    }

    mutating func fail(_ relays: [RelayURL], _ reason: String) {
        for relay in relays { failures[relay] = reason }
    }

    /// Returns the newest list of a kind on any relay; nil if absent.
    func listed(_ kind: Kind) -> [RelayURL]? {
        PublishedLists.relays(kind, of: request.account, in: events.values.joined())
    }

    /// Truncates untrusted text and removes control characters.
    private static func line(_ text: String) -> String {
        String(text.unicodeScalars.filter { $0.properties.generalCategory != .control }.map(Character.init).prefix(200))
    }
}
