import MLS
import Nostr

/// The state machine of an account's calls, one at a time (docs/protocol/marmot.md §9.3): maps events to actions. Pure.
struct CallMachine: Sendable, Hashable {
    struct Call: Sendable, Hashable {
        let id: String
        /// The MLS group id, because a group's nostrGroupID may change during a call.
        let groupID: GroupID
        let peer: PublicKey
        let session: CallSession
        let isOutgoing: Bool
        /// The start of the call, in Unix milliseconds.
        let startedAt: Int64
        var connectedAt: Int64?
        var isMuted = false
        var isCameraOn = false
    }

    enum State: Sendable, Hashable {
        case idle
        /// This account has invited and waits for an answer until this deadline (Unix milliseconds).
        case offering(Call, until: Int64)
        /// This account was invited.
        case ringing(Call, until: Int64)
        case connecting(Call)
        case active(Call)
        case ended(Call, reason: String)
    }

    /// The sender of a signal, and the call that it names.
    struct Origin: Sendable, Hashable {
        let callID: String
        let groupID: GroupID
        let sender: PublicKey
    }

    enum Event: Sendable, Hashable {
        case start(Call)
        /// - Parameters:
        ///   - isGroup: whether the chat shows as a group.
        ///   - isAuthentic: whether the invite's token equals the one derived from the group's current epoch.
        case invite(Call, isGroup: Bool, isAuthentic: Bool)
        case accept(Origin, relayAuth: String, isAuthentic: Bool)
        /// The peer's reject or end.
        case termination(Origin, reason: String)
        /// - Parameter isAuthentic: as in ``invite(_:isGroup:isAuthentic:)``, at the time when the user accepts.
        case userAccepts(callID: String, isAuthentic: Bool)
        case userDeclines(callID: String, reason: String)
        case userEnds(callID: String, reason: String)
        case timedOut(callID: String)
        /// No relay accepted this account's invite or accept.
        case publishFailed(callID: String)
        case mediaConnected(callID: String)
        /// The keys, the transport or the connection are missing or lost.
        case mediaFailed(callID: String)
        case toggleMute
        case toggleCamera
    }

    enum Action: Sendable, Hashable {
        case send(CallSignal.Body, callID: String, groupID: GroupID)
        case wake(callID: String, atMilliseconds: Int64)
        case startMedia(Call)
        case stopMedia(callID: String)
        /// Applies the mute and camera settings to the media.
        case setMedia(Call)
        case record(AppState.CallTimelineEntry.Event, Call)
        /// Delivers the signal that caused this to the handlers.
        case announce
    }

    /// Milliseconds before an unanswered invitation times out.
    static let inviteTimeout: Int64 = 30_000

    private(set) var state = State.idle

    init() {}

    /// The current call; nil if absent.
    var live: Call? {
        switch self.state {
        case .offering(let call, _), .ringing(let call, _), .connecting(let call), .active(let call): call
        case .idle, .ended: nil
        }
    }

    /// The current call, or the one that ended last.
    var latest: Call? { if case .ended(let call, _) = self.state { call } else { self.live } }

    /// Applies an event and returns the resulting actions; an event that does not fit the present state changes
    /// nothing. Throws only for user events: `AppCoreError.Code.busy` and `AppCoreError.Code.unknownCall`.
    mutating func handle(
        _ event: Event, _ policy: CallPolicy, nowMilliseconds now: Int64
    ) throws(AppCoreError) -> [Action] {
        switch event {
        case .start(let call): return try self.start(call, now)
        case .invite(let call, let isGroup, let isAuthentic):
            return self.invited(call, self.rejectionReason(to: call, isGroup, isAuthentic, policy), now)
        case .accept(let origin, let relayAuth, let isAuthentic):
            return self.accepted(origin, isAuthentic && self.isOwnAuth(relayAuth), now)
        case .termination(let origin, let reason):
            guard let call = self.live, call.matches(origin) else { return [] }
            return self.end(call, reason, at: now) + [.announce]
        case .userAccepts(let callID, let isAuthentic): return try self.accept(callID, isAuthentic, now)
        case .userDeclines(let callID, let reason):
            guard case .ringing(let call, _) = self.state, call.id == callID else { throw AppCoreError.unknownCall }
            return self.end(call, reason, at: now, saying: .reject(reason: reason))
        case .userEnds(let callID, let reason):
            guard let call = self.live, call.id == callID else { throw AppCoreError.unknownCall }
            return self.end(call, reason, at: now, saying: .end(reason: reason))
        case .timedOut(let callID): return self.timedOut(callID, policy, now)
        case .publishFailed(let callID):
            guard let call = self.live, call.id == callID else { return [] }
            return self.end(call, "publish_failed", at: now)
        case .mediaConnected(let callID): return self.connected(callID, policy, now)
        case .mediaFailed(let callID):
            guard let call = self.live, call.id == callID else { return [] }
            return self.end(call, "runtime_error", at: now, saying: .end(reason: "runtime_error"))
        case .toggleMute: return try self.toggle { $0.isMuted.toggle() }
        case .toggleCamera:
            guard self.live?.session.hasVideo == true else { throw AppCoreError.unknownCall }
            return try self.toggle { $0.isCameraOn.toggle() }
        }
    }
}

extension CallMachine {
    private mutating func start(_ call: Call, _ now: Int64) throws(AppCoreError) -> [Action] {
        guard self.live == nil else { throw AppCoreError(.busy, "one call at a time: end the other one first") }
        self.state = .offering(call, until: now + Self.inviteTimeout)
        return [
            .send(.invite(call.session), callID: call.id, groupID: call.groupID),
            .wake(callID: call.id, atMilliseconds: now + Self.inviteTimeout), .record(.invited(byUs: true), call),
        ]
    }

    /// Returns the reason to reject an invitation at once; nil if it rings. The order of the checks is Pika's.
    private func rejectionReason(
        to call: Call, _ isGroup: Bool, _ isAuthentic: Bool, _ policy: CallPolicy
    ) -> String? {
        if isGroup, !policy.allowsGroups { return "unsupported_group" }
        if call.session.hasVideo, !policy.allowsVideo { return "unsupported_video" }
        if !call.session.hasAudio, !policy.allowsData { return "unsupported_data" }
        if self.live != nil { return "busy" }
        return isAuthentic ? nil : "auth_failed"
    }

    private mutating func invited(_ call: Call, _ rejectionReason: String?, _ now: Int64) -> [Action] {
        // A repeated invitation: rejecting it would end the call that it began.
        if let live = self.live, live.id == call.id, live.groupID == call.groupID, live.peer == call.peer { return [] }
        if let rejectionReason {
            return [.send(.reject(reason: rejectionReason), callID: call.id, groupID: call.groupID)]
        }
        self.state = .ringing(call, until: now + Self.inviteTimeout)
        return [
            .wake(callID: call.id, atMilliseconds: now + Self.inviteTimeout), .record(.invited(byUs: false), call),
            .announce,
        ]
    }

    /// Returns whether a token is that of this account's own invite, in constant time.
    private func isOwnAuth(_ relayAuth: String) -> Bool {
        guard case .offering(let call, _) = self.state else { return false }
        return CallAuthorization.isEqual(relayAuth, call.session.relayAuth)
    }

    private mutating func accepted(_ origin: Origin, _ isAuthentic: Bool, _ now: Int64) -> [Action] {
        guard case .offering(let call, _) = self.state, call.matches(origin) else { return [] }
        guard isAuthentic else {
            // Pika sends nothing here and leaves the other side connecting.
            return self.end(call, "auth_failed", at: now, saying: .end(reason: "auth_failed")) + [.announce]
        }
        self.state = .connecting(call)
        return [.startMedia(call), .announce]
    }

    private mutating func accept(
        _ callID: String, _ isAuthentic: Bool, _ now: Int64
    ) throws(AppCoreError) -> [Action] {
        guard case .ringing(let call, _) = self.state, call.id == callID else { throw AppCoreError.unknownCall }
        guard isAuthentic else {
            return self.end(call, "auth_failed", at: now, saying: .reject(reason: "auth_failed"))
        }
        self.state = .connecting(call)
        return [.send(.accept(call.session), callID: call.id, groupID: call.groupID), .startMedia(call)]
    }

    private mutating func timedOut(_ callID: String, _ policy: CallPolicy, _ now: Int64) -> [Action] {
        switch self.state {
        case .offering(let call, let until), .ringing(let call, let until):
            guard call.id == callID, until <= now else { return [] }
            return self.end(call, "timeout", at: now, saying: .end(reason: "timeout"))
        case .active(let call):
            guard call.id == callID, let end = call.end(by: policy), end <= now else { return [] }
            return self.end(call, "time_limit", at: now, saying: .end(reason: "time_limit"))
        case .idle, .connecting, .ended: return []
        }
    }

    private mutating func connected(_ callID: String, _ policy: CallPolicy, _ now: Int64) -> [Action] {
        guard case .connecting(var call) = self.state, call.id == callID else { return [] }
        call.connectedAt = now
        self.state = .active(call)
        let wake = call.end(by: policy).map { Action.wake(callID: callID, atMilliseconds: $0) }
        return [.record(.connected, call)] + [wake].compactMap(\.self)
    }

    private mutating func toggle(_ body: (inout Call) -> Void) throws(AppCoreError) -> [Action] {
        guard var call = self.live else { throw AppCoreError.unknownCall }
        body(&call)
        switch self.state {
        case .offering(_, let until): self.state = .offering(call, until: until)
        case .ringing(_, let until): self.state = .ringing(call, until: until)
        case .connecting: self.state = .connecting(call)
        case .active: self.state = .active(call)
        case .idle, .ended: break
        }
        return [.setMedia(call)]
    }

    private mutating func end(
        _ call: Call, _ reason: String, at now: Int64, saying body: CallSignal.Body? = nil
    ) -> [Action] {
        let hasMedia =
            switch self.state {
            case .connecting, .active: true
            case .idle, .offering, .ringing, .ended: false
            }
        self.state = .ended(call, reason: reason)
        let seconds = call.connectedAt.map { max(0, now - $0) / 1000 }
        var actions: [Action] = body.map { [.send($0, callID: call.id, groupID: call.groupID)] } ?? []
        if hasMedia { actions.append(.stopMedia(callID: call.id)) }
        return actions + [.record(.ended(reason: reason, seconds: seconds), call)]
    }
}

extension CallMachine.Call {
    /// The time at which the connected call ends, in Unix milliseconds; nil if the policy has no limit.
    func end(by policy: CallPolicy) -> Int64? {
        guard let limit = policy.longestMilliseconds, let connectedAt = self.connectedAt else { return nil }
        return connectedAt.clampedAdding(limit)
    }

    /// Returns whether a signal is about this call and from its other side: another group member cannot end it.
    func matches(_ origin: CallMachine.Origin) -> Bool {
        self.id == origin.callID && self.groupID == origin.groupID && self.peer == origin.sender
    }
}

extension AppCoreError {
    package static let unknownCall = AppCoreError(.unknownCall, "no such call is in progress")
}
