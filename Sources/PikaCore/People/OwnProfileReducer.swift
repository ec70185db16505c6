import MLS
import Nostr

/// Reading and writing this account's own profile and follow list (``OwnProfile``).
extension CoreModel {
    // MARK: Reading

    /// Queries every relay of this account; a reading in progress continues.
    mutating func readOwn(_ step: inout CoreStep) {
        self.people.own.read(self.account.publicKey, from: Set(self.configuration.relays), &step)
    }

    mutating func receiveOwn(
        ofReading number: Int, _ outcomes: [RelayURL: FetchOutcome], _ step: inout CoreStep
    ) {
        guard
            let (events, result) = self.people.own.receive(
                outcomes, ofReading: number, account: self.account.publicKey, now: step.now)
        else { return }
        for event in events { self.receiveOwn(event, &step) }
        if let result { self.endReading(result, &step) }
    }

    private mutating func receiveOwn(_ event: Event, _ step: inout CoreStep) {
        if event.kind == .metadata {
            let known = self.people.profiles[event.pubkey]
            let source = ProfileSource(own: event)
            guard source.replaces(known?.source) else { return }
            self.keepOwn(source, isComplete: known?.isComplete ?? false, &step)
        } else if event.kind == .followList {
            if self.people.own.replacesFollowList(event) { self.keep(followList: event, &step) }
        } else if event.kind == .relayList {
            self.keyPackages.noteRelayList(event)
        }
    }

    private mutating func endReading(_ result: OwnReading.Result, _ step: inout CoreStep) {
        if result.hasAnswer {
            self.keepOwn(
                self.people.profiles[self.account.publicKey]?.source, isComplete: result.isComplete, &step)
            self.endRelayListReading(&step)
        }
        for request in self.people.own.drainRefreshes() {
            let failure = AppCoreError(.noRelay, "no relay answered")
            self.finish(request, result.hasAnswer ? .done(chatID: nil) : .failed(failure), &step)
        }
        self.writeOwn(after: result, &step)
        if self.people.own.hasRefreshes { self.readOwn(&step) }
    }

    private mutating func keepOwn(_ source: ProfileSource?, isComplete: Bool, _ step: inout CoreStep) {
        let own = self.account.publicKey
        let profile = KnownProfile(of: own, source: source, fetchedAt: step.now, isComplete: isComplete)
        if self.people.put(profile, of: own, isOwn: true, &step) { self.refreshNames(of: [own]) }
        if (self.state.myProfile == nil) != (source == nil) { self.refreshOwnProfile() }
    }

    private mutating func keep(followList event: Event, _ step: inout CoreStep) {
        self.people.own.set(followList: event, &step)
        self.showFollowList()
        self.queueProfileRequests(of: self.everybody, &step)
    }

    mutating func showFollowList() {
        let list = self.people.own.followList.flatMap { try? FollowList($0) }
        self.state.followList = (list?.entries ?? []).prefix(ProfileDirectory.capacity).map {
            AppState.FollowedPeer(profile: self.profile(of: $0.publicKey))
        }
        guard let key = self.state.peerProfile?.profile.publicKey else { return }
        self.state.peerProfile?.isFollowed = list?.follows(key) ?? false
    }

    // MARK: Writing

    /// Writes the changes that waited for a reading: all changes of one event in order, as one event.
    ///
    /// While an earlier version waits for the account's signer, changes stay queued: they are applied to that version.
    mutating func writeOwn(after reading: OwnReading.Result, _ step: inout CoreStep) {
        if !self.signer.isSigning(.profile) {
            let saves = self.people.own.drainSaves()
            self.end(saves.map(\.request), &step) { model, step in
                try model.writeProfile(saves.map(\.draft), after: reading, &step)
            }
        }
        if !self.signer.isSigning(.followList) {
            let follows = self.people.own.drainFollows()
            self.end(follows.map(\.request), &step) { model, step in
                try model.writeFollowList(follows.map { ($0.key, $0.isFollowed) }, after: reading, &step)
            }
        }
    }

    private mutating func end(
        _ requests: [RequestID?], _ step: inout CoreStep,
        after work: (inout CoreModel, inout CoreStep) throws -> KeyTask?
    ) {
        guard !requests.isEmpty else { return }
        do {
            let task = try work(&self, &step)
            for request in requests {
                if let task, let request, self.signer.contains(task) {
                    self.ask(task, for: request, &step)
                } else {
                    self.finish(request, .done(chatID: nil), &step)
                }
            }
        } catch { for request in requests { self.fail(request, error, &step) } }
    }

    /// Resumes writing after one of the events was signed, or its signing failed.
    mutating func endOwnWriting(_ step: inout CoreStep) {
        if let reading = self.people.own.result { self.writeOwn(after: reading, &step) }
    }

    private mutating func writeProfile(
        _ drafts: [ProfileDraft], after reading: OwnReading.Result, _ step: inout CoreStep
    ) throws -> KeyTask? {
        let known = self.people.profiles[self.account.publicKey]?.source
        // A profile that was read before is used even if the relays that had it are away now.
        guard known != nil || reading.isComplete else {
            throw AppCoreError(.noRelay, "this account's profile could not be read from all of its relays")
        }
        var profile = ProfileMetadata()
        do { if let known { profile = try ProfileMetadata(content: known.content) } } catch {
            // Other programs may be able to parse this profile, so it must not be overwritten.
            guard ![.numberOutOfRange, .jsonTooDeep, .invalidPayloadSize].contains(error.code) else {
                throw AppCoreError(.notAllowed, "this account's profile cannot be rewritten: \(error.message)")
            }
        }
        for draft in drafts { draft.apply(to: &profile) }
        let draft = try self.draft(
            .metadata, tags: known?.tags ?? [], content: profile.content, after: known?.createdAt, step)
        return try self.publish(draft, .profile, &step)
    }

    private mutating func writeFollowList(
        _ changes: [(key: PublicKey, isFollowed: Bool)], after reading: OwnReading.Result, _ step: inout CoreStep
    ) throws -> KeyTask? {
        let known = self.people.own.followList
        guard reading.hasAnswer, known != nil || reading.isComplete else {
            throw AppCoreError(.noRelay, "this account's follow list could not be read, so it is not written")
        }
        var list = try known.map { try FollowList($0) } ?? FollowList()
        let before = list
        for (key, isFollowed) in changes { _ = isFollowed ? list.follow(key) : list.unfollow(key) }
        guard list != before else { return nil }
        let draft = try self.draft(.followList, tags: list.tags, content: list.content, after: known?.createdAt, step)
        return try self.publish(draft, .followList, &step)
    }

    /// Drafts a replaceable event. It is dated after the last one: of two of the same second, relays keep the lower id.
    private func draft(
        _ kind: Kind, tags: [Tag], content: String, after last: UnixTime?, _ step: CoreStep
    ) throws -> UnsignedEvent {
        guard last != .distantFuture else {
            throw AppCoreError(.notAllowed, "the event to be replaced has the highest possible created_at")
        }
        let time = max(step.now, last.map { $0 + 1 } ?? 0)
        let unsigned = UnsignedEvent(
            pubkey: self.account.publicKey, createdAt: time, kind: kind, tags: tags, content: content)
        guard unsigned.rumorJSON().count + Self.signatureBytes <= self.configuration.maximumEventBytes else {
            throw AppCoreError(
                .notAllowed, "the event exceeds the maximum of \(self.configuration.maximumEventBytes) bytes")
        }
        return unsigned
    }

    /// The number of bytes that a signature adds to an event's JSON.
    private static let signatureBytes = #","sig":"""#.utf8.count + 128

    private mutating func publish(
        _ draft: UnsignedEvent, _ purpose: OutboxRow.Purpose, _ step: inout CoreStep
    ) throws -> KeyTask {
        let task = KeyTask.publish(
            DuePublication(
                row: "\(purpose.rawValue)/\(draft.id.hex)", draft: draft, relays: self.configuration.relays,
                purpose: purpose))
        try self.tryKeyTask(task, &step)
        return task
    }

    /// Adopts and enqueues a profile or follow list that was signed.
    mutating func publish(_ event: Event, _ due: DuePublication, _ step: inout CoreStep) {
        if due.purpose == .profile {
            self.keepOwn(ProfileSource(own: event), isComplete: self.people.own.result?.isComplete ?? false, &step)
        } else if due.purpose == .followList {
            self.keep(followList: event, &step)
        }
        // The versions that it replaces need no longer be sent. A deletion replaces no other.
        if due.purpose != .deletion {
            for row in self.delivery.queue.rows(where: { $0.purpose == due.purpose }) { self.dropRow(row.id, &step) }
        }
        self.enqueue(id: due.row, event, to: due.relays, due.purpose, &step)
    }
}
