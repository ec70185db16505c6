import Logging
import Nostr

/// Logout and wipe; both can be repeated after a failure.
extension AppSession {
    /// Deletes the stored key; the account's state stays.
    func forget(_ request: RequestID?) async {
        self.introduction = nil
        do throws(AppCoreError) {
            // First completes an interrupted wipe, which a logout must not cancel.
            try await self.finishWipe()
            do { try await self.identities.delete() } catch {
                throw AppCoreError(.identityUnavailable, "the stored key cannot be deleted: \(error); log out again")
            }
            self.finish(request, .done(chatID: nil))
        } catch { self.fail(request, error) }
    }

    /// Deletes the key and the state of an account; of the stored one if `account` is nil.
    func wipe(_ account: PublicKey?, _ request: RequestID?) async {
        self.introduction = nil
        do throws(AppCoreError) {
            var wiped = account
            if wiped == nil { wiped = try await self.loadIdentity()?.account }
            guard let account = wiped else {
                throw AppCoreError(
                    .notLoggedIn, "no account is logged in, so it is unknown which data to delete; log in first")
            }
            do { try await self.identities.save(.wiping(account)) } catch {
                throw AppCoreError(.identityUnavailable, "the stored key cannot be deleted: \(error); wipe again")
            }
            try await self.finishWipe()
            self.toast = nil
            self.finish(request, .done(chatID: nil))
        } catch { self.fail(request, error) }
    }

    /// Completes an interrupted wipe. The marker of the wipe is deleted last.
    func finishWipe() async throws(AppCoreError) {
        guard case .wiping(let account)? = try await self.loadIdentity() else { return }
        do { try await self.host.wipe(account) } catch {
            throw AppCoreError(.accountUnavailable, "the account's data cannot be deleted: \(error); wipe again")
        }
        do { try await self.identities.delete() } catch {
            throw AppCoreError(.identityUnavailable, "the marker of the wipe cannot be deleted: \(error); wipe again")
        }
    }

    /// Settles the session after an account's core has failed: fails the actions in flight, then performs the logout or
    /// wipe that ended it.
    func conclude(_ account: OpenAccount, _ ending: SessionEnding) async {
        let isAnnounced = self.coreState != nil
        self.core = nil
        self.account = nil
        self.coreState = nil
        self.busy = AppState.Busy()
        self.toast = nil
        var reason = AppCoreError(
            .sessionEnded, "the session ended first; queued messages are sent after the next login")
        if case .failed(let error) = ending {
            self.toast = error.message
            self.logger.error("an account's core has failed", metadata: ["reason": "\(error)"])
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
