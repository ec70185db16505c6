import Nostr

/// The logged-in part of a session.
extension AppSession {
    /// Runs an account's core until it ends, then closes the account's resources.
    func runAccount(_ account: OpenAccount, _ inputs: SessionInputs) async {
        let run = self.attempts
        var ports = CorePorts(
            transport: account.resources.transport, store: account.resources.store, clock: self.clock,
            logger: self.logger)
        ports.media = account.resources.media
        ports.cache = account.resources.cache
        ports.callMedia = account.resources.callMedia
        ports.randomness = self.randomness(run)
        let core = AppCore(account: account.unlocked.key, configuration: self.configuration, ports: ports)
        self.core = core
        self.account = account
        let ending = await withTaskGroup(of: Void.self) { group in
            group.addTask { [send = self.send] in
                do { try await account.resources.run() } catch {
                    let failure = AppCoreError(.accountUnavailable, "the connections have failed: \(error)")
                    send.yield(.ended(run: run, failure))
                }
            }
            if let link = account.unlocked.link {
                group.addTask { [send = self.send] in
                    do { try await link.run() } catch {
                        let failure = AppCoreError(
                            .accountUnavailable, "the connections to the signer have failed: \(error)")
                        send.yield(.ended(run: run, failure))
                    }
                }
            }
            let ending = await self.follow(core, inputs, run: run)
            await account.unlocked.link?.shutdown()
            await account.resources.transport.shutdown()
            group.cancelAll()
            return ending
        }
        await account.resources.close()
        await self.conclude(account, ending)
    }

    /// Forwards the core's updates and events until both streams end.
    private func follow(_ core: AppCore, _ inputs: SessionInputs, run: Int) async -> SessionEnding {
        let updates = core.updates()
        return await withTaskGroup(of: Void.self) { group in
            group.addTask { for await update in updates { await self.apply(update) } }
            group.addTask { [deliver = self.deliver] in
                for await event in core.events { deliver.yield(SessionEvent(account: core.account, event: event)) }
            }
            return await self.drive(core, inputs, run: run)
        }
    }

    /// Runs the core until an action ends it, or it fails.
    private func drive(_ core: AppCore, _ inputs: SessionInputs, run: Int) async -> SessionEnding {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [send = self.send] in
                do {
                    try await core.run()
                } catch {
                    let failure =
                        error as? AppCoreError
                        ?? AppCoreError(.accountUnavailable, "the account's state has failed: \(error)")
                    send.yield(.ended(run: run, failure))
                }
            }
            let ending = await self.performActions(core, inputs, run: run)
            core.stop()
            return ending
        }
    }

    private func performActions(_ core: AppCore, _ inputs: SessionInputs, run: Int) async -> SessionEnding {
        while let input = await inputs.next() {
            switch input {
            case .ended(run, let failure): return .failed(failure)
            case .ended, .opened: continue
            case .action(.logout, let request): return .logout(request)
            case .action(.wipeLocalData, let request): return .wipe(request)
            case .action(.restoreSession, let request): self.finish(request, .done(chatID: nil))
            case .action(.createAccount, let request), .action(.login, let request):
                self.fail(request, AppCoreError(.notAllowed, "an account is logged in; log out first"))
            case .action(.reloadConfiguration(let configuration), let request):
                self.lastReload += 1
                let own = RequestID(rawValue: "session/reload/\(self.lastReload)")
                self.reloads[own] = (configuration, request)
                core.dispatch(.reloadConfiguration(configuration), request: own)
            case .action(let action, let request):
                if action == .clearToast, self.toast != nil {
                    self.toast = nil
                    if self.coreState != nil { self.publish() }
                }
                if let request { self.pending[request, default: 0] += 1 }
                core.dispatch(action, request: request)
            }
        }
        return .cancelled
    }

    // MARK: Updates of the core

    private func apply(_ update: AppUpdate) {
        switch update {
        case .fullState(let state): self.apply(state)
        case .finished(_, let request, let outcome): self.apply(outcome, of: request)
        case .delivery(_, let chatID, let messageID, let delivery):
            self.hub.publish(.delivery(rev: self.state.rev, chatID: chatID, messageID: messageID, delivery))
        case .accountCreated: break
        }
    }

    private func apply(_ state: AppState) {
        let isFirst = self.coreState == nil
        // A new toast of the core replaces the session's own.
        if state.toast != nil, state.toast != self.coreState?.toast { self.toast = nil }
        self.coreState = state
        if isFirst { self.busy = AppState.Busy() }
        self.publish()
        if isFirst, let account = self.account { self.announce(account) }
    }

    /// Ends the action that opened the account, once its first snapshot is published.
    private func announce(_ account: OpenAccount) {
        if case .create(let name) = account.login, case .local(let key) = account.unlocked.key {
            self.hub.publish(.accountCreated(rev: self.state.rev, secretKey: key))
            if let name, !name.isEmpty { self.core?.dispatch(.saveProfile(ProfileDraft(name: name))) }
        }
        self.finish(account.request, .done(chatID: nil))
    }

    private func apply(_ outcome: ActionOutcome, of request: RequestID) {
        if let reload = self.reloads.removeValue(forKey: request) {
            if case .done = outcome { self.configuration = reload.configuration }
            return self.finish(reload.request, outcome)
        }
        guard let count = self.pending[request] else { return }
        // A once-only request is answered once, however often it was repeated meanwhile.
        self.pending[request] = count == 1 || request.onceKey != nil ? nil : count - 1
        self.finish(request, outcome)
    }
}
