import Logging
import Nostr

/// Forgetting and wiping; both can be repeated after a failure.
extension AppSession {
    /// Forgets the key; the account's state stays.
    func forget(_ request: RequestID?) async {
        self.introduction = nil
        do throws(AppCoreError) {
            // A wipe that was begun is not forgotten over a logout.
            try await self.finishWipe()
            do { try await self.identities.delete() } catch {
                throw AppCoreError(.identityUnavailable, "the stored key cannot be deleted: \(error); log out again")
            }
            self.finish(request, .done(chatID: nil))
        } catch { self.fail(request, error) }
    }

    /// Deletes key and state of an account, the one that is stored unless one is given.
    func wipe(_ account: PublicKey?, _ request: RequestID?) async {
        self.introduction = nil
        do throws(AppCoreError) {
            var wiped = account
            if wiped == nil { wiped = try await self.loadIdentity()?.account }
            guard let account = wiped else {
                throw AppCoreError(
                    .notLoggedIn, "nobody is logged in, so it is not known whose data to delete; log in first")
            }
            do { try await self.identities.save(.wiping(account)) } catch {
                throw AppCoreError(.identityUnavailable, "the stored key cannot be deleted: \(error); wipe again")
            }
            try await self.finishWipe()
            self.toast = nil
            self.finish(request, .done(chatID: nil))
        } catch { self.fail(request, error) }
    }

    /// Goes on with a wipe that was begun: the note that it was goes last.
    func finishWipe() async throws(AppCoreError) {
        guard case .wiping(let account)? = try await self.loadIdentity() else { return }
        do { try await self.host.wipe(account) } catch {
            throw AppCoreError(.accountUnavailable, "the account's data cannot be deleted: \(error); wipe again")
        }
        do { try await self.identities.delete() } catch {
            throw AppCoreError(.identityUnavailable, "the note of the wipe cannot be deleted: \(error); wipe again")
        }
    }

    /// The account's core is gone: what it left open ends, then what ended it.
    func settle(_ account: OpenAccount, _ ending: SessionEnding) async {
        let isAnnounced = self.coreState != nil
        self.core = nil
        self.account = nil
        self.coreState = nil
        self.busy = AppState.Busy()
        self.toast = nil
        var reason = AppCoreError(
            .sessionEnded, "the session ended first; what is stored for sending leaves after the next login")
        if case .failed(let error) = ending {
            self.toast = error.message
            self.logger.error("an account's core has ended", metadata: ["reason": "\(error)"])
            if !isAnnounced { reason = error }
        }
        self.publish()
        if !isAnnounced { self.finish(account.request, .failed(reason)) }
        for (request, count) in self.pending.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            for _ in 0..<count { self.finish(request, .failed(reason)) }
        }
        for reload in self.reloads.values { self.finish(reload.request, .failed(reason)) }
        self.pending = [:]
        self.reloads = [:]
        switch ending {
        case .logout(let request): await self.forget(request)
        case .wipe(let request): await self.wipe(account.unlocked.key.publicKey, request)
        case .failed, .cancelled: break
        }
    }
}
