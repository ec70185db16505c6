import Nostr

/// User actions on profiles and the follow list.
extension CoreModel {
    mutating func actOnPeople(
        _ action: AppAction, _ request: RequestID?, _ step: inout CoreStep
    ) throws -> ActionOutcome? {
        switch action {
        case .saveProfile(let draft): try self.saveProfile(draft, request, &step)
        case .refreshProfile: try self.refreshProfile(request, &step)
        case .openPeerProfile(let key):
            self.openPeerProfile(key, &step)
            return .done(chatID: nil)
        case .closePeerProfile:
            self.state.peerProfile = nil
            return .done(chatID: nil)
        case .follow(let key): try self.follow(key, true, request, &step)
        case .unfollow(let key): try self.follow(key, false, request, &step)
        case .saveGroupProfile(let chatID, let draft):
            return try self.saveGroupProfile(draft, ofChat: chatID, request, &step)
        default: preconditionFailure("\(action) is not an action about people")
        }
        return nil
    }

    private mutating func refreshProfile(_ request: RequestID?, _ step: inout CoreStep) throws {
        try self.requireRelays()
        self.people.own.addRefresh(request)
        self.readOwn(&step)
        self.queueProfileRequests(of: self.everybody, isUrgent: true, &step)
    }

    /// Shows the known profile of a person, and requests a newer one.
    private mutating func openPeerProfile(_ key: PublicKey, _ step: inout CoreStep) {
        self.state.peerProfile = AppState.PeerProfile(
            profile: self.profile(of: key), isFollowed: self.state.followList.contains { $0.profile.publicKey == key })
        self.queueProfileRequests(of: [key], isUrgent: true, &step)
    }

    // MARK: Writing

    private mutating func saveProfile(
        _ draft: ProfileDraft, _ request: RequestID?, _ step: inout CoreStep
    ) throws {
        guard draft.image == nil else {
            throw AppCoreError(.notAllowed, "the picture of a public profile must be a URL")
        }
        try draft.check()
        try self.requireRelays()
        self.people.own.addSave(draft, request)
        self.writeOrRead(&step)
    }

    private mutating func follow(
        _ key: PublicKey, _ isFollowed: Bool, _ request: RequestID?, _ step: inout CoreStep
    ) throws {
        guard key.isOnCurve, key != self.account.publicKey else {
            throw AppCoreError(.notAllowed, "only the public keys of other accounts can be followed")
        }
        try self.requireRelays()
        self.people.own.addFollow(key, isFollowed, request)
        self.writeOrRead(&step)
    }

    private func requireRelays() throws(AppCoreError) {
        if self.configuration.relays.isEmpty { throw AppCoreError(.noRelay, "this account has no relays") }
    }

    /// Writes this account's events only after a recent reading: another program may have changed them.
    private mutating func writeOrRead(_ step: inout CoreStep) {
        if let read = self.people.own.result, read.isComplete,
            step.now.seconds(since: read.at) < ProfileDirectory.pause
        {
            if !self.people.own.isReading { self.writeOwn(after: read, &step) }
        } else {
            self.readOwn(&step)
        }
    }
}

extension ProfileDraft {
    /// Throws `AppCoreError.Code.notAllowed` if a field is too long for others to show in full.
    func check() throws(AppCoreError) {
        guard self.name?.unicodeScalars.count ?? 0 <= DisplayText.nameLimit,
            self.about?.unicodeScalars.count ?? 0 <= DisplayText.aboutLimit,
            self.picture?.utf8.count ?? 0 <= DisplayText.addressLimit
        else {
            throw AppCoreError(
                .notAllowed,
                """
                profile: expected at most \(DisplayText.nameLimit) characters in the name, \
                \(DisplayText.aboutLimit) in the description and \(DisplayText.addressLimit) bytes in the picture's URL
                """)
        }
    }

    /// Writes the given fields; an empty one is removed. Both name fields get the same value, as in Pika.
    func apply(to profile: inout ProfileMetadata) {
        if let name = self.name {
            profile.name = name.nonBlank
            profile.displayName = profile.name
        }
        if let about = self.about { profile.about = about.nonBlank }
        if let picture = self.picture { profile.picture = picture.nonBlank }
    }
}
