public import Nostr

/// The events that announce this account's key packages, with each relay's answer to them.
///
/// Covers the key packages (kind 443 of the first generation, 30443 of the second) and those relay lists
/// (kinds 10051, 10050 and 10002) that are sent with them.
public struct KeyPackageAnnouncement: Sendable, Hashable {
    /// One relay's answer.
    public enum Answer: Sendable, Hashable {
        /// The relay has not answered yet.
        case pending
        /// `OK true`, or a refusal as duplicate.
        case stored
        /// `OK false` with the relay's message.
        case refused(String)
        /// No connection or no answer, with the reason; the event is sent again.
        case unreachable(String)
    }

    /// One relay's answer to several events.
    public struct RelayAnswer: Sendable, Hashable, CustomStringConvertible {
        /// The relay that the events were sent to.
        public let relay: RelayURL
        /// The worst of the relay's answers to the events.
        public let answer: Answer

        /// The relay and its answer as text.
        public var description: String {
            switch self.answer {
            case .pending: "\(self.relay): no answer yet"
            case .stored: "\(self.relay): stored"
            case .refused(let reason): "\(self.relay): refused (\(reason))"
            case .unreachable(let reason): "\(self.relay): unreachable (\(reason))"
            }
        }
    }

    /// Names one of the events. An event of kind 30443 may be of either generation.
    private struct Name: Sendable, Hashable {
        let kind: Kind
        let generation: GroupGeneration

        init(_ kind: Kind, _ generation: GroupGeneration) {
            self.kind = kind
            self.generation = generation
        }

        init(of event: Event) {
            self.init(event.kind, event.kind == .relayList ? .v2 : GroupGeneration(announcedBy: event))
        }

        static let keyPackages = [Name(.keyPackage, .v1), Name(.addressableKeyPackage, .v1), .second]
        static let relayLists = [
            Name(.keyPackageRelays, .v1), Name(.inboxRelays, .v1), Name(.relayList, .v2),
        ]
        static let first = Name(.keyPackage, .v1)
        static let second = Name(.addressableKeyPackage, .v2)
    }

    private struct Part: Sendable, Hashable {
        let event: EventID
        let relays: [RelayURL]
        var answers: [RelayURL: Answer]
    }

    /// Rises by one when an announcement begins; 0 before the first since the start.
    public private(set) var number = 0
    private var parts: [Name: Part] = [:]
    /// The generations whose key package is not signed yet.
    private var unsigned: Set<GroupGeneration> = []

    init() {}

    /// The kind 443 event; nil until it is signed.
    public var event: EventID? { self.parts[.first]?.event }

    /// The answer of each key package relay, in the configured order: the worst answer to the events of both
    /// generations.
    public var keyPackage: [RelayAnswer] { self.answers(to: Name.keyPackages) }

    /// The answer of each relay for relay lists; empty if the lists were confirmed earlier.
    public var relayLists: [RelayAnswer] { self.answers(to: Name.relayLists) }

    /// Whether a relay has stored the kind 443 event.
    public var isStored: Bool { self.isStored(.first) }

    /// Whether a relay has stored the kind 30443 event of the second generation.
    public var isSecondStored: Bool { self.isStored(.second) }

    /// Whether every relay has answered every event.
    public var isAnswered: Bool {
        self.event != nil && self.parts.values.allSatisfy { !$0.answers.values.contains(.pending) }
    }

    /// Whether a relay has stored the kind 443 event, and each such relay has answered the key package events of both
    /// generations.
    package var isStoredAndAnswered: Bool {
        guard self.unsigned.isEmpty, let first = self.parts[.first], self.isStored else { return false }
        let relays = first.answers.filter { $0.value == .stored }.keys
        let others = Name.keyPackages.compactMap { self.parts[$0] }
        return relays.allSatisfy { relay in others.allSatisfy { $0.answers[relay] != .pending } }
    }

    /// Whether every relay has refused the kind 443 event permanently, so that it is not sent again.
    public var isRefused: Bool {
        guard let answers = self.parts[.first]?.answers.values, !answers.isEmpty else { return false }
        return answers.allSatisfy {
            if case .refused(let reason) = $0 { !PublishQueue.isTemporary(reason) } else { false }
        }
    }

    /// Returns a copy that states the last connection failure of each relay that has not answered yet.
    public func explained(by relays: [AppState.RelayStatus]) -> KeyPackageAnnouncement {
        var result = self
        for status in relays {
            guard case .retrying(_, let reason) = status.connection else { continue }
            for name in self.parts.keys where self.parts[name]?.answers[status.url] == .pending {
                result.parts[name]?.answers[status.url] = .unreachable(reason)
            }
        }
        return result
    }

    /// A description of why the key package counts as unpublished, with each relay's answer.
    public var failure: String {
        let outcome =
            self.isRefused
            ? "every relay refused the key package" : "no relay has stored the key package yet; it stays queued"
        return ([outcome] + self.keyPackage.map(\.description)).joined(separator: "; ")
    }

    private func isStored(_ name: Name) -> Bool { self.parts[name]?.answers.values.contains(.stored) == true }

    private func answers(to names: [Name]) -> [RelayAnswer] {
        let parts = names.compactMap { name in self.parts[name].map { (name.kind, $0) } }
        var relays: [RelayURL] = []
        for relay in parts.flatMap(\.1.relays) where !relays.contains(relay) { relays.append(relay) }
        return relays.map { relay in
            let answers = parts.compactMap { kind, part in part.answers[relay].map { (kind, $0) } }
            return RelayAnswer(relay: relay, answer: Self.worst(answers))
        }
    }

    /// Returns the worst answer; a refusal of only some events names their kinds.
    private static func worst(_ answers: [(kind: Kind, answer: Answer)]) -> Answer {
        let refusals = answers.compactMap { kind, answer in
            if case .refused(let reason) = answer { (kind: kind, reason: reason) } else { nil }
        }
        if let first = refusals.first {
            let isOfAll = refusals.count == answers.count && refusals.allSatisfy { $0.reason == first.reason }
            let words = refusals.map { "kind \($0.kind.rawValue): \($0.reason)" }
            return .refused(isOfAll ? first.reason : words.joined(separator: "; "))
        }
        return answers.first { if case .unreachable = $0.answer { true } else { false } }?.answer
            ?? answers.first { $0.answer == .pending }?.answer ?? .stored
    }

    // MARK: Changes

    /// Begins a new announcement, of both generations or of one; ``expect(_:from:isUnderWay:)`` adds its events.
    mutating func begin(_ generation: GroupGeneration? = nil) {
        self.number += 1
        self.parts = self.parts.filter { name, _ in generation != nil && name.generation != generation }
        self.unsigned.formUnion(generation.map { [$0] } ?? GroupGeneration.allCases)
    }

    /// Adds an event, replacing an earlier one of its name; `isUnderWay` keeps the answers to this same event.
    mutating func expect(_ event: Event, from relays: [RelayURL], isUnderWay: Bool = false) {
        let name = Name(of: event)
        if Name.keyPackages.contains(name) { self.unsigned.remove(name.generation) }
        let known = self.parts[name]
        let kept = isUnderWay && known?.event == event.id ? known?.answers ?? [:] : [:]
        var answers: [RelayURL: Answer] = [:]
        for relay in relays { answers[relay] = kept[relay] ?? .pending }
        self.parts[name] = Part(event: event.id, relays: relays, answers: answers)
    }

    mutating func note(_ report: PublishReport, of event: Event) {
        let answer: Answer =
            switch report.outcome {
            case .accepted: .stored
            case .refused(let reason): .refused(reason)
            case .unreachable(let reason): .unreachable(reason)
            }
        self.note(answer, by: report.relay, of: event)
    }

    /// Records that an attempt ended without an answer from these relays.
    mutating func noteSilence(of relays: [RelayURL], about event: Event) {
        for relay in relays where self.parts[Name(of: event)]?.answers[relay] == .pending {
            self.note(.unreachable("no answer"), by: relay, of: event)
        }
    }

    /// Records an answer. A stored event stays stored, whatever the relay answers when it receives the event again.
    private mutating func note(_ answer: Answer, by relay: RelayURL, of event: Event) {
        let name = Name(of: event)
        guard let part = self.parts[name], part.event == event.id, let known = part.answers[relay], known != .stored
        else { return }
        self.parts[name]?.answers[relay] = answer
    }
}

extension OutboxRow {
    /// Whether the event is part of a ``KeyPackageAnnouncement``.
    var isAnnouncement: Bool { self.purpose == .keyPackage || self.purpose == .relayList }
}
