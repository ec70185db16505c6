import MLS
import Nostr

/// Requests for public profiles (``ProfileDirectory``).
extension CoreModel {
    // MARK: Requests

    /// All people whose names may be shown, without duplicates: the opened profile, members, inviters and followed
    /// people, up to the number of profiles that are stored.
    var everybody: [PublicKey] {
        let members = self.state.chatList.lazy.flatMap(\.members).map(\.publicKey)
        let groups: [any Sequence<PublicKey>] = [
            CollectionOfOne(self.state.peerProfile?.profile.publicKey).compactMap { $0 }, members,
            self.state.invites.lazy.map(\.inviter), self.state.followList.lazy.map(\.profile.publicKey),
        ]
        var seen: Set<PublicKey> = [self.account.publicKey]
        var found: [PublicKey] = []
        for group in groups {
            for key in group where seen.insert(key).inserted {
                guard found.count < ProfileDirectory.capacity else { return found }
                found.append(key)
            }
        }
        return found
    }

    /// Requests the profiles of these people that are unknown or outdated.
    ///
    /// - Parameter isUrgent: whether recent profiles are fetched again too.
    mutating func queueProfileRequests(
        of keys: some Sequence<PublicKey>, isUrgent: Bool = false, _ step: inout CoreStep
    ) {
        guard self.configuration.readsProfiles || isUrgent else { return }
        let own = self.account.publicKey
        self.people.wantProfiles(of: keys.lazy.filter { $0 != own }, isUrgent: isUrgent, now: step.now)
        self.requestProfiles(&step)
    }

    /// Sends the request that had to wait for the budget.
    mutating func continueProfiles(_ step: inout CoreStep) {
        self.people.endProfilePause()
        self.requestProfiles(&step)
    }

    /// Sends the next request if a relay is connected.
    private mutating func requestProfiles(_ step: inout CoreStep) {
        let relays = self.configuration.relays
        guard self.state.relays.contains(where: { $0.connection == .connected && relays.contains($0.url) }) else {
            return
        }
        self.people.requestProfiles(from: relays, &step)
    }

    // MARK: Answers

    mutating func receiveProfiles(
        ofSearch number: Int, _ outcomes: [RelayURL: FetchOutcome], _ step: inout CoreStep
    ) {
        if self.people.profiles.needsRoom(forSearch: number) { self.removeStrangers(&step) }
        guard
            let (changed, isNextDue) = self.people.receiveProfiles(
                outcomes, ofSearch: number, account: self.account.publicKey, &step)
        else { return }
        self.refreshNames(of: changed)
        if isNextDue { self.requestProfiles(&step) }
    }

    // MARK: Maintenance

    /// Fetches outdated profiles, and drops those of people who are no longer shown.
    mutating func maintainPeople(_ step: inout CoreStep) {
        self.removeStrangers(&step)
        self.notePeople(&step)
    }

    /// Requests everything that is due: after the start, when a relay reconnects, and periodically.
    mutating func notePeople(_ step: inout CoreStep) {
        let isRead = self.people.own.result.map {
            $0.isComplete && step.now.seconds(since: $0.at) < ProfileDirectory.lifetime
        }
        let isConnected = self.state.relays.contains { $0.connection == .connected }
        if isConnected, isRead != true { self.readOwn(&step) }
        self.queueProfileRequests(of: self.everybody, &step)
    }

    private mutating func removeStrangers(_ step: inout CoreStep) {
        self.people.removeProfiles(except: Set(self.everybody + [self.account.publicKey]), &step)
    }
}
