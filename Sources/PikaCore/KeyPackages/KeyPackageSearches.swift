import Nostr

/// Searches for peers' key packages in progress.
struct KeyPackageSearches: Sendable {
    enum Owner: Sendable, Hashable {
        /// A change to a group, by its number.
        case intent(Int)
        case request(RequestID?)
    }

    private struct ActiveSearch: Sendable {
        var search: KeyPackageSearch
        let owner: Owner
    }

    /// The searches in progress, by number.
    private var active: [Int: ActiveSearch] = [:]
    private var lastNumber = 0

    var isEmpty: Bool { self.active.isEmpty }

    /// Begins a search; returns its number.
    mutating func begin(
        _ peers: [PublicKey], by owner: Owner, for purpose: KeyPackageSearch.Purpose,
        _ configuration: CoreConfiguration
    ) -> Int {
        self.lastNumber += 1
        self.active[self.lastNumber] = ActiveSearch(
            search: KeyPackageSearch(peers, configuration, for: purpose), owner: owner)
        return self.lastNumber
    }

    /// Returns the owner of a search; nil if it is over.
    func owner(of number: Int) -> Owner? { self.active[number]?.owner }

    mutating func receive(_ outcomes: [RelayURL: FetchOutcome], of number: Int) {
        for (relay, outcome) in outcomes { self.active[number]?.search.receive(outcome, from: relay) }
    }

    /// Sends a search's next requests, and returns its findings once it is over.
    ///
    /// - Parameter group: the group that the peers are to join; nil if it does not exist yet.
    mutating func advance(
        _ number: Int, for group: AccountGroup?, _ step: inout CoreStep
    ) -> [PublicKey: KeyPackageFinding]? {
        guard var active = self.active.removeValue(forKey: number) else { return nil }
        for request in active.search.nextRequests() {
            step.effects.append(.fetch(.keyPackages(search: number), [request.filter], from: [request.relay]))
        }
        guard active.search.isOver(for: group, now: step.now) else {
            self.active[number] = active
            return nil
        }
        return active.search.findings(for: group, now: step.now)
    }
}
