import BotDispatch
import Nostr
import PikaCore

extension WorkerRequests {
    /// Answers `why` {event} or {since, until} in Unix seconds: the fates of an event or of a time span; and `pause` and
    /// `resume` {bot}: for the named bot, or for all if none is named.
    mutating func answerOperators(
        _ admission: Admission, bots: [String], _ core: any HandlerCore,
        quarantine: @escaping @Sendable () -> [QuarantineEntry] = { [] }
    ) {
        on("why") { question in
            if let since = question["since"]?.integer, let until = question["until"]?.integer, since <= until {
                let span = UnixTime(since)...UnixTime(until)
                return EventExplanation(in: span, from: admission.journal).json
            }
            guard let event = question["event"]?.string,
                let explanation = EventExplanation(of: event, from: admission.journal)
            else {
                throw WorkerRefusal(
                    "expected an event id in hex, or its first digits (at least \(EventExplanation.minimumDigits))")
            }
            return explanation.json.withQuarantine(quarantine(), of: event)
        }
        on("pause") { try Self.setPaused(true, $0, admission, bots, core) }
        on("resume") { try Self.setPaused(false, $0, admission, bots, core) }
    }

    private static func setPaused(
        _ isPaused: Bool, _ question: JSONValue, _ admission: Admission, _ bots: [String], _ core: any HandlerCore
    ) throws -> JSONValue {
        let name = question["bot"]?.string
        let named = name.map { name in bots.filter { $0 == name } } ?? bots
        guard !named.isEmpty else {
            throw WorkerRefusal("unknown bot \(name ?? ""); known bots: \(bots.joined(separator: ", "))")
        }
        for bot in named { admission.setPaused(isPaused, bot) }
        let effects = named.map { Admission.pauseEffect(isPaused, $0, id: "\(Admission.scope)/\($0)/\(isPaused)") }
        core.perform(effects, request: RequestID(rawValue: "\(Admission.scope)/pause"))
        return ["paused": .array(bots.filter(admission.isPaused).map { .string($0) })]
    }
}

extension CoreConfiguration.InviteLimits {
    /// Processes twice as many invitations from all strangers together as from one inviter, so that creating new keys
    /// gains nothing.
    init(_ perInviter: Rate?) {
        guard let rate = perInviter else {
            self.init()
            return
        }
        let (strangers, overflow) = rate.count.multipliedReportingOverflow(by: 2)
        self.init(
            perInviter: RateLimit(rate.count, per: rate.per.duration),
            strangers: RateLimit(overflow ? rate.count : strangers, per: rate.per.duration))
    }
}
