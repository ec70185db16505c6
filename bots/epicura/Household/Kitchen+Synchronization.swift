import Appliance
import BotKit

/// Brings what waits here to the cloud, and what is new there to the chats' commands.
extension Kitchen {
    private static let longestWait: Int64 = 300

    func requestSynchronization() {
        works.append(.synchronize)
        wake()
    }

    /// One run at a time; a failed one is repeated after 5 s, doubling to 5 minutes.
    func synchronize() async {
        defer {
            isSynchronizing = false
            if mustSynchronize {
                mustSynchronize = false
                works.append(.synchronize)
            }
            wake()
        }
        guard await client.isSignedIn else { return await answerSearches(loginNeeded: true) }
        do {
            try await claimWaiting()
            try await readAppliances()
            try await synchronizePreferences()
            try await uploadHistory()
            try await readRecipes()
            try await reconcilePictures()
            isCloudReachable = true
            (nextSynchronization, synchronizationWait) = (nil, 0)
        } catch {
            if await client.isSignedIn { isCloudReachable = false } else { await sessionEnded() }
            synchronizationWait = min(Self.longestWait, max(5, synchronizationWait.clampedMultiplied(by: 2)))
            nextSynchronization = now + synchronizationWait
        }
        await answerSearches(loginNeeded: !(await client.isSignedIn))
    }

    /// Returns the value of a successful answer. Throws `ApplianceError.Code.offline`.
    private func fetch<Value: APIValue>(_ request: APIRequest, _ type: Value.Type) async throws -> Value {
        guard let value = await client.send(request).value(type) else {
            throw ApplianceError(.offline, "the cloud has no answer")
        }
        return value
    }

    private func answerSearches(loginNeeded: Bool) async {
        let waiting = searches
        searches = []
        let settings = settings
        let id = services.clock.nowMilliseconds
        for (index, search) in waiting.enumerated() {
            try? await change { state, _ in
                if loginNeeded {
                    state.tell("search-\(id)-\(index)", search.chat, .loginNeeded, in: settings)
                } else {
                    state.tell(
                        Notice(id: "search-\(id)-\(index)", chat: search.chat, .recipes(query: search.query)))
                }
            }
        }
    }

    // MARK: Parts

    private func readAppliances() async throws {
        let list = try await fetch(.appliances, ApplianceList.self)
        try await change { state, _ in
            let known = state.household.appliances
            state.household.appliances = list.items.map { item in
                var item = item
                // The appliance itself told its address over Bluetooth.
                item.localAddress = item.localAddress ?? known.first { $0.id == item.id }?.localAddress
                return item
            }
        }
    }

    private func synchronizePreferences() async throws {
        for _ in 0..<3 {
            guard let upload = try await change({ state, _ in state.preferences.beginUpload() }) else { break }
            let answer = await client.send(try APIRequest.replacePreferences(upload))
            if let saved = answer.value(Preferences.self) {
                try await change { state, _ in state.preferences.uploaded(saved) }
            } else if case .answered(409, let body) = answer,
                let current = try? APICoding.decode(Preferences.self, from: body)
            {
                // Someone else was first: both changes count by the rules of PreferenceSync.
                try await change { state, _ in state.preferences.merge(current) }
            } else {
                try await change { state, _ in state.preferences.uploadFailed() }
                throw ApplianceError(.offline, "the preferences were not stored")
            }
        }
        let current = try await fetch(.preferences, Preferences.self)
        try await change { state, _ in
            // Changes of a run that was cut off are still there.
            state.preferences.uploadFailed()
            state.preferences.merge(current)
        }
    }

    private func uploadHistory() async throws {
        try await change { state, _ in state.history.file() }
        while let upload = state.history.journal.nextUpload {
            let request =
                switch upload {
                case .record(let record): try APIRequest.addHistory(record)
                case .rating(let session, let rating): try APIRequest.rate(session, rating)
                }
            guard await client.send(request).isSuccess else {
                throw ApplianceError(.offline, "the history was not stored")
            }
            try await change { state, _ in
                state.history.journal.uploaded(upload)
                state.history.file()
            }
        }
        let page = try await fetch(.history, HistoryPage.self)
        try await change { state, _ in state.history.journal.merge(page) }
    }

    private func readRecipes() async throws {
        for language in languages {
            if let last = state.household.recipeTimes[language], now.seconds(since: last) < 3_600,
                try await book.count(language) > 0
            {
                continue
            }
            var ids: Set<String> = []
            var cursor: String?
            // 100 pages of 100 recipes.
            for _ in 0..<100 {
                let page = try await fetch(try APIRequest.recipes(language: language, cursor: cursor), RecipePage.self)
                let recipes = page.items.filter { $0.language == language }
                if !recipes.isEmpty { try await book.store(recipes) }
                ids.formUnion(recipes.map { $0.id })
                cursor = page.nextCursor
                if cursor == nil { break }
            }
            if cursor == nil { try await book.keepOnly(ids, language) }
            try await change { state, now in state.household.recipeTimes[language] = now }
        }
    }

    /// Adds an appliance that has joined the Wi-Fi to the household; its claim waits in the vault until then.
    func claimWaiting() async throws {
        guard let claim = await client.waitingClaim() else { return }
        let answer = await client.send(try APIRequest.claim(claim))
        if let claimed = answer.value(ClaimedAppliance.self) {
            try await client.keep(claimed.localKey, of: claimed.appliance.id)
            let (settings, name, number) = (settings, claimed.appliance.name, services.clock.nowMilliseconds)
            let address = pairedAddress
            let chat = pairing?.chat
            try await change { state, _ in
                var record = claimed.appliance
                record.localAddress = record.localAddress ?? address
                state.household.appliances.removeAll { $0.id == record.id }
                state.household.appliances.append(record)
                if let chat = chat?.rawValue ?? state.household.loginChat {
                    state.tell("claimed-\(number)", chat, .pairDone, ["name": name], in: settings)
                }
            }
            pairing = nil
            try await client.keepClaim(nil)
        } else if answer.refusal != nil {
            // The token is not valid: pairing has to begin anew.
            let (settings, chat, number) = (settings, pairing?.chat, services.clock.nowMilliseconds)
            try await change { state, _ in
                guard let chat = chat?.rawValue ?? state.household.loginChat else { return }
                state.tell("claim-refused-\(number)", chat, .pairFailedJoin, in: settings)
            }
            pairing = nil
            try await client.keepClaim(nil)
        } else {
            throw ApplianceError(.offline, "the appliance was not added")
        }
    }
}
