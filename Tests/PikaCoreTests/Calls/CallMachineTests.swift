import LiveTesting
import MLS
import Nostr
import Testing

@testable import PikaCore

/// Every state with every event: the next state and the actions (docs/protocol/marmot.md §9.3).
@Suite struct CallMachineTests {
    private typealias Call = CallMachine.Call

    /// The expected result of one state and one event.
    private struct Outcome {
        var state: CallMachine.State
        var actions: [CallMachine.Action] = []
        var error: AppCoreError.Code?
    }

    private enum Place: CaseIterable { case idle, offering, ringing, connecting, active, ended }

    private enum Trigger: CaseIterable {
        case start, invite, inviteInGroup, inviteWithVideo, inviteOfData, inviteUnproven, inviteAgain
        case accept, acceptUnproven, acceptWithOtherToken, acceptByThird, acceptOfOtherCall, acceptInOtherChat
        case termination, terminationByThird, terminationOfOtherCall, terminationInOtherChat
        case userAccepts, userAcceptsUnproven, userAcceptsOther, userDeclines, userDeclinesOther, userEnds
        case userEndsOther, timedOut, timedOutEarly, timedOutOfOther, publishFailed, publishFailedOfOther
        case mediaConnected, mediaConnectedOfOther, mediaFailed, mediaFailedOfOther, toggleMute, toggleCamera
    }

    private static let start: Int64 = 1_800_000_000_000
    private static let deadline = start + 30_000
    private static let now = start + 10_000
    private static let policy = CallPolicy(allowsGroups: false, allowsVideo: true, allowsData: false)
    private static let groupID: GroupID = [1]
    private static let peer = key(1)
    private static let third = key(2)

    private static func key(_ seed: UInt64) -> PublicKey {
        var random = SplitMix64(seed: seed)
        return KeyPair.generate(using: &random).publicKey
    }

    private static func session(_ tracks: [CallSession.Track] = [.audio, .video]) -> CallSession {
        CallSession(
            moqURL: "https://moq.example", broadcastBase: "pika/calls/1", relayAuth: "capv1_own", tracks: tracks)
    }

    private static func call(
        _ id: String = "call", peer: PublicKey = peer, tracks: [CallSession.Track] = [.audio, .video],
        isOutgoing: Bool = false
    ) -> Call {
        Call(
            id: id, groupID: self.groupID, peer: peer, session: self.session(tracks), isOutgoing: isOutgoing,
            startedAt: self.start, isCameraOn: true)
    }

    /// The call of a place.
    private static func call(of place: Place) -> Call {
        var call = self.call(isOutgoing: place == .offering)
        if place == .active { call.connectedAt = self.start + 2000 }
        return call
    }

    private static func state(_ place: Place) -> CallMachine.State {
        let call = self.call(of: place)
        return switch place {
        case .idle: .idle
        case .offering: .offering(call, until: self.deadline)
        case .ringing: .ringing(call, until: self.deadline)
        case .connecting: .connecting(call)
        case .active: .active(call)
        case .ended: .ended(call, reason: "declined")
        }
    }

    private static func machine(_ place: Place) throws -> CallMachine {
        var machine = CallMachine()
        func step(_ event: CallMachine.Event, _ time: Int64 = Self.start) throws {
            _ = try machine.handle(event, .handlers, nowMilliseconds: time)
        }
        switch place {
        case .idle: break
        case .offering: try step(.start(self.call(of: .offering)))
        case .ringing, .connecting, .active, .ended:
            try step(.invite(self.call(), isGroup: false, isAuthentic: true))
            if place == .connecting || place == .active { try step(.userAccepts(callID: "call", isAuthentic: true)) }
            if place == .active { try step(.mediaConnected(callID: "call"), self.start + 2000) }
            if place == .ended { try step(.userDeclines(callID: "call", reason: "declined")) }
        }
        #expect(machine.state == self.state(place))
        return machine
    }

    private static func event(_ trigger: Trigger) -> CallMachine.Event {
        func origin(
            _ id: String = "call", _ sender: PublicKey = Self.peer, _ group: GroupID = Self.groupID
        ) -> CallMachine.Origin { .init(callID: id, groupID: group, sender: sender) }
        let other = self.call("other", peer: self.third, tracks: [.audio])
        return switch trigger {
        case .start: .start(self.call("new", isOutgoing: true))
        case .invite: .invite(other, isGroup: false, isAuthentic: true)
        case .inviteInGroup: .invite(other, isGroup: true, isAuthentic: false)
        case .inviteWithVideo:
            .invite(self.call("other", peer: self.third), isGroup: false, isAuthentic: false)
        case .inviteOfData:
            .invite(self.call("other", peer: self.third, tracks: [.data]), isGroup: false, isAuthentic: false)
        case .inviteUnproven: .invite(other, isGroup: false, isAuthentic: false)
        case .inviteAgain: .invite(self.call(), isGroup: false, isAuthentic: true)
        case .accept: .accept(origin(), relayAuth: "capv1_own", isAuthentic: true)
        case .acceptUnproven: .accept(origin(), relayAuth: "capv1_own", isAuthentic: false)
        case .acceptWithOtherToken: .accept(origin(), relayAuth: "capv1_oth", isAuthentic: true)
        case .acceptByThird: .accept(origin("call", self.third), relayAuth: "capv1_own", isAuthentic: true)
        case .acceptOfOtherCall: .accept(origin("other"), relayAuth: "capv1_own", isAuthentic: true)
        case .acceptInOtherChat:
            .accept(origin("call", self.peer, [2]), relayAuth: "capv1_own", isAuthentic: true)
        case .termination: .termination(origin(), reason: "because")
        case .terminationByThird: .termination(origin("call", self.third), reason: "because")
        case .terminationOfOtherCall: .termination(origin("other"), reason: "because")
        case .terminationInOtherChat: .termination(origin("call", self.peer, [2]), reason: "because")
        case .userAccepts: .userAccepts(callID: "call", isAuthentic: true)
        case .userAcceptsUnproven: .userAccepts(callID: "call", isAuthentic: false)
        case .userAcceptsOther: .userAccepts(callID: "other", isAuthentic: true)
        case .userDeclines: .userDeclines(callID: "call", reason: "declined")
        case .userDeclinesOther: .userDeclines(callID: "other", reason: "declined")
        case .userEnds: .userEnds(callID: "call", reason: "user_hangup")
        case .userEndsOther: .userEnds(callID: "other", reason: "user_hangup")
        case .timedOut, .timedOutEarly: .timedOut(callID: "call")
        case .timedOutOfOther: .timedOut(callID: "other")
        case .publishFailed: .publishFailed(callID: "call")
        case .publishFailedOfOther: .publishFailed(callID: "other")
        case .mediaConnected: .mediaConnected(callID: "call")
        case .mediaConnectedOfOther: .mediaConnected(callID: "other")
        case .mediaFailed: .mediaFailed(callID: "call")
        case .mediaFailedOfOther: .mediaFailed(callID: "other")
        case .toggleMute: .toggleMute
        case .toggleCamera: .toggleCamera
        }
    }

    private static func time(_ trigger: Trigger) -> Int64 {
        switch trigger {
        case .timedOut, .timedOutOfOther: self.deadline
        case .timedOutEarly: self.deadline - 1
        default: self.now
        }
    }

    // MARK: The table

    private static func expected(_ place: Place, _ trigger: Trigger) -> Outcome {
        let call = self.call(of: place)
        let isLive = place != .idle && place != .ended
        let nothing = Outcome(state: self.state(place))
        let unknown = Outcome(state: self.state(place), error: .unknownCall)
        switch trigger {
        case .start: return isLive ? Outcome(state: self.state(place), error: .busy) : self.offered
        case .invite:
            let other = self.call("other", peer: self.third, tracks: [.audio])
            return isLive ? self.refused(place, "busy") : self.rung(other)
        case .inviteInGroup: return self.refused(place, "unsupported_group")
        // This table's policy allows video, so only the other objections remain.
        case .inviteWithVideo: return self.refused(place, isLive ? "busy" : "auth_failed")
        case .inviteOfData: return self.refused(place, "unsupported_data")
        case .inviteUnproven: return self.refused(place, isLive ? "busy" : "auth_failed")
        case .inviteAgain: return isLive ? nothing : self.rung(self.call())
        case .accept:
            guard place == .offering else { return nothing }
            return Outcome(state: .connecting(call), actions: [.startMedia(call), .announce])
        case .acceptUnproven, .acceptWithOtherToken:
            guard place == .offering else { return nothing }
            return self.over(place, "auth_failed", .end(reason: "auth_failed"), [.announce])
        case .termination: return isLive ? self.over(place, "because", nil, [.announce]) : nothing
        case .userAccepts:
            guard place == .ringing else { return unknown }
            return Outcome(
                state: .connecting(call),
                actions: [
                    .send(.accept(call.session), callID: "call", groupID: self.groupID), .startMedia(call),
                ])
        case .userAcceptsUnproven:
            return place == .ringing
                ? self.over(place, "auth_failed", .reject(reason: "auth_failed")) : unknown
        case .userDeclines:
            return place == .ringing ? self.over(place, "declined", .reject(reason: "declined")) : unknown
        case .userEnds: return isLive ? self.over(place, "user_hangup", .end(reason: "user_hangup")) : unknown
        case .userAcceptsOther, .userDeclinesOther, .userEndsOther: return unknown
        case .timedOut:
            guard place == .offering || place == .ringing else { return nothing }
            return self.over(place, "timeout", .end(reason: "timeout"))
        case .publishFailed: return isLive ? self.over(place, "publish_failed", nil) : nothing
        case .mediaConnected:
            guard place == .connecting else { return nothing }
            var active = call
            active.connectedAt = self.now
            return Outcome(state: .active(active), actions: [.record(.connected, active)])
        case .mediaFailed:
            return isLive ? self.over(place, "runtime_error", .end(reason: "runtime_error")) : nothing
        case .toggleMute: return isLive ? self.switched(place) { $0.isMuted = true } : unknown
        case .toggleCamera: return isLive ? self.switched(place) { $0.isCameraOn = false } : unknown
        case .acceptByThird, .acceptOfOtherCall, .acceptInOtherChat, .terminationByThird, .terminationOfOtherCall,
            .terminationInOtherChat, .timedOutEarly, .timedOutOfOther, .publishFailedOfOther, .mediaConnectedOfOther,
            .mediaFailedOfOther:
            return nothing
        }
    }

    private static var offered: Outcome {
        let call = self.call("new", isOutgoing: true)
        return Outcome(
            state: .offering(call, until: self.now + 30_000),
            actions: [
                .send(.invite(call.session), callID: "new", groupID: self.groupID),
                .wake(callID: "new", atMilliseconds: self.now + 30_000), .record(.invited(byUs: true), call),
            ])
    }

    private static func rung(_ call: Call) -> Outcome {
        Outcome(
            state: .ringing(call, until: self.now + 30_000),
            actions: [
                .wake(callID: call.id, atMilliseconds: self.now + 30_000), .record(.invited(byUs: false), call),
                .announce,
            ])
    }

    private static func refused(_ place: Place, _ reason: String) -> Outcome {
        Outcome(
            state: self.state(place),
            actions: [.send(.reject(reason: reason), callID: "other", groupID: self.groupID)])
    }

    private static func over(
        _ place: Place, _ reason: String, _ body: CallSignal.Body?, _ more: [CallMachine.Action] = []
    ) -> Outcome {
        let call = self.call(of: place)
        var actions: [CallMachine.Action] = body.map { [.send($0, callID: "call", groupID: self.groupID)] } ?? []
        if place == .connecting || place == .active { actions.append(.stopMedia(callID: "call")) }
        // Connected after 2 s, over after 10 s.
        actions.append(.record(.ended(reason: reason, seconds: place == .active ? 8 : nil), call))
        return Outcome(state: .ended(call, reason: reason), actions: actions + more)
    }

    private static func switched(_ place: Place, _ body: (inout Call) -> Void) -> Outcome {
        var call = self.call(of: place)
        body(&call)
        let state: CallMachine.State =
            switch place {
            case .offering: .offering(call, until: self.deadline)
            case .ringing: .ringing(call, until: self.deadline)
            case .connecting: .connecting(call)
            case .active, .idle, .ended: .active(call)
            }
        return Outcome(state: state, actions: [.setMedia(call)])
    }

    @Test func coversEveryStateAndEvent() throws {
        for place in Place.allCases {
            for trigger in Trigger.allCases {
                var machine = try Self.machine(place)
                let expected = Self.expected(place, trigger)
                var actions: [CallMachine.Action] = []
                var error: AppCoreError.Code?
                do {
                    actions = try machine.handle(
                        Self.event(trigger), Self.policy, nowMilliseconds: Self.time(trigger))
                } catch let failure { error = failure.code }
                #expect(machine.state == expected.state, "\(place), \(trigger)")
                #expect(actions == expected.actions, "\(place), \(trigger)")
                #expect(error == expected.error, "\(place), \(trigger)")
            }
        }
    }

    /// Group, then video, then data, then busy, then the token: the first objection is reported.
    @Test func rejectionReasonsFollowOrder() throws {
        let call = Self.call("other", peer: Self.third, tracks: [.video])
        let open = CallPolicy(allowsGroups: true, allowsVideo: true, allowsData: true)
        var steps: [(CallPolicy, Place, String)] = []
        steps.append(
            (CallPolicy(allowsGroups: false, allowsVideo: false, allowsData: false), .active, "unsupported_group"))
        steps.append(
            (CallPolicy(allowsGroups: true, allowsVideo: false, allowsData: false), .active, "unsupported_video"))
        steps.append(
            (CallPolicy(allowsGroups: true, allowsVideo: true, allowsData: false), .active, "unsupported_data"))
        steps.append((open, .active, "busy"))
        steps.append((open, .idle, "auth_failed"))
        for (policy, place, reason) in steps {
            var machine = try Self.machine(place)
            let actions = try machine.handle(
                .invite(call, isGroup: true, isAuthentic: false), policy, nowMilliseconds: Self.now)
            #expect(actions == [.send(.reject(reason: reason), callID: "other", groupID: Self.groupID)])
        }
    }

    @Test func longCallEndsWithReason() throws {
        var policy = CallPolicy.handlers
        policy.longestMilliseconds = 60_000
        var machine = try Self.machine(.connecting)
        let connected = try machine.handle(.mediaConnected(callID: "call"), policy, nowMilliseconds: Self.now)
        #expect(connected.contains(.wake(callID: "call", atMilliseconds: Self.now + 60_000)))
        let early = try machine.handle(.timedOut(callID: "call"), policy, nowMilliseconds: Self.now + 59_999)
        #expect(early.isEmpty)
        let other = try machine.handle(.timedOut(callID: "other"), policy, nowMilliseconds: .max)
        #expect(other.isEmpty)
        let late = try machine.handle(.timedOut(callID: "call"), policy, nowMilliseconds: Self.now + 60_000)
        #expect(late.contains(.send(.end(reason: "time_limit"), callID: "call", groupID: Self.groupID)))
        #expect(machine.live == nil)
    }

    @Test func refusesCameraToggleInAudioCall() throws {
        var machine = CallMachine()
        _ = try machine.handle(
            .start(Self.call("new", tracks: [.audio], isOutgoing: true)), .handlers, nowMilliseconds: Self.start)
        #expect(
            #expect(throws: AppCoreError.self) {
                _ = try machine.handle(.toggleCamera, .handlers, nowMilliseconds: Self.now)
            }?.code == .unknownCall)
    }
}
