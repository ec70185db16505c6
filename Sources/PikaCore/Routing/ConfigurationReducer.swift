import Nostr

/// Reloading the configuration of a running core.
extension CoreModel {
    mutating func reload(_ new: CoreConfiguration, _ step: inout CoreStep) throws {
        let old = self.configuration
        let fixed = [
            ("client", old.client != new.client), ("keepsInbox", old.keepsInbox != new.keepsInbox),
            ("detectsCopies", old.detectsCopies != new.detectsCopies),
        ]
        let changed = fixed.filter(\.1).map(\.0)
        guard changed.isEmpty else {
            throw AppCoreError(
                .needsRestart,
                "\(changed.joined(separator: ", ")) cannot change while the account runs; "
                    + "nothing was changed. Restart the account with the new configuration")
        }
        guard old != new else { return }
        self.configuration = new
        if old.homeRelays != new.homeRelays || old.mediaServers != new.mediaServers { self.setEndpoints(&step) }
        if old.homeRelays != new.homeRelays { self.changeRelays(since: old, &step) }
        try self.announceRelays(since: old, &step)
        if old.selfUpdate != new.selfUpdate { self.startRenewals(&step) }
        if old.retention != new.retention {
            self.inbox.dropSurplus(new.retention, &step)
            self.retain(&step)
            self.inbox.handOut(new.retention, &step)
        }
    }

    func setEndpoints(_ step: inout CoreStep) {
        step.effects.append(
            .setEndpoints(relays: self.configuration.homeRelays, servers: self.configuration.mediaServers))
    }

    /// Updates the connections and the relays shown. Subscriptions without explicit relays follow automatically.
    private mutating func changeRelays(since old: CoreConfiguration, _ step: inout CoreStep) {
        self.keyPackages.changeRelays(from: old.homeRelays, to: self.configuration.homeRelays)
        let before = self.state.relays
        self.state.relays = self.allRelays.map { url in
            before.first { $0.url == url }
                ?? AppState.RelayStatus(url: url, connection: .disconnected, isCaughtUp: false)
        }
        // Events no longer wait for a relay that is no longer queried.
        for status in before where !self.state.relays.contains(where: { $0.url == status.url }) {
            self.catchUp.remove(status.url)
        }
        self.connectToRelays(&step)
        if self.configuration.detectsCopies { self.subscribeToNotices(&step) }
    }

    /// Announces changed relays. Others find this account through its lists and its key package: both go to the new
    /// relays, and the lists also to the former ones, which would otherwise keep the old lists.
    private mutating func announceRelays(since old: CoreConfiguration, _ step: inout CoreStep) throws {
        let starts = self.configuration.publishesKeyPackage && !old.publishesKeyPackage
        let moves =
            old.relays != self.configuration.relays || old.announcementRelays != self.configuration.announcementRelays
        guard moves || starts, !self.configuration.homeRelays.isEmpty else { return }
        if !self.keyPackages.relayLists.isEmpty { self.publishRelayLists(&step) }
        if self.configuration.publishesKeyPackage || self.keyPackages.isAnnounced { try self.publishKeyPackage(&step) }
    }
}
