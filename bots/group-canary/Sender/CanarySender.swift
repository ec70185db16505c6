import BotKit
import Foundation
import Synchronization

/// Sends canaries to groups and measures the answers.
///
/// Schedules and chats are handled concurrently, so each durable value is written by only one of them.
struct CanarySender: Sendable {
    /// State that does not have to survive the process.
    final class Memory: Sendable {
        let creationAttemptedAt = Mutex<[String: Int64]>([:])
        let faults = Mutex<[String: Set<String>]>([:])
    }

    let settings: SenderSettings
    let memory = Memory()

    init(_ settings: SenderSettings) {
        self.settings = settings
    }

    var timeout: Int64 { Int64(settings.timeout / .milliseconds(1)) }

    /// Evaluates the latest canaries of each group, and sends the next one.
    func sendCanaries(_ context: BotContext) async throws {
        for group in settings.groups {
            let chat = try await chat(of: group, context)
            // The run that first tries to create a group does not report it as missing.
            if chat == nil, createGroupIfDue(group, context) == .firstAttempt { continue }
            try await report(on: group, chat, context).publish(group.name, memory, context)
            guard let chat, chat.isActive else { continue }
            var sent = try await context.stored(SentLog.self, .sent(group)) ?? SentLog(series: Self.newSeries())
            let number = sent.send(at: context.nowMilliseconds, window: settings.window)
            try context.store(sent, .sent(group))
            let canary = CanaryMessage(series: sent.series, number: number, view: GroupView(chat))
            context.send(try canary.content, kind: .canary, to: chat.chatID)
        }
    }

    /// Handles an answer to a canary.
    func receive(_ message: MessageEvent, _ context: BotContext) async throws {
        guard let group = try await group(of: context.chatID, context), let chat = context.chat,
            group.mirrors.contains(where: { $0.account == message.sender }),
            let answer = CanaryMessage(content: message.content),
            let sent = try await context.stored(SentLog.self, .sent(group))
        else { return }
        var heard = try await context.stored(AnswerLog.self, .heard(group)) ?? AnswerLog(series: sent.series)
        let (result, took) = heard.record(
            answer, from: message.sender.hex, sent: sent, own: GroupView(chat), now: context.nowMilliseconds,
            timeout: timeout)
        try context.store(heard, .heard(group))
        let metrics = context.services.metrics
        metrics.add(
            MetricSample("group_canary_answers_total", ["target": group.name, "result": result.rawValue], 1))
        if let took {
            metrics.observe(
                MetricSample("group_canary_roundtrip_seconds", ["target": group.name], Double(took) / 1000))
        }
    }

    /// Answers a `/probe` from the current results, without sending anything.
    func answer(_ request: ProbeRequest, _ context: BotContext) async throws -> ProbeAnswer {
        guard let group = settings.groups.first(where: { $0.name == request.target }) else {
            throw BotError(.probeRefused, "unknown target: not a configured group")
        }
        let report = try await report(on: group, try await chat(of: group, context), context)
        return ProbeAnswer(isSuccess: report.isGood, samples: report.samples)
    }

    func report(
        on group: GroupSettings, _ chat: AppState.ChatSummary?, _ context: BotContext
    ) async throws -> CanaryReport {
        CanaryReport(
            group, settings, chat, sent: try await context.stored(SentLog.self, .sent(group)),
            heard: try await context.stored(AnswerLog.self, .heard(group)),
            verdicts: try await context.stored([String: CheckVerdict].self, .verdicts(group)) ?? [:],
            now: context.nowMilliseconds)
    }

    private static func newSeries() -> String { String(UInt32.random(in: .min ... .max), radix: 16) }
}

/// The key of a durable value of a group.
struct CanaryKey: Sendable {
    let text: String

    private init(_ kind: String, _ group: GroupSettings) { text = "\(kind)/\(group.name)" }

    static func chat(_ group: GroupSettings) -> CanaryKey { CanaryKey("chat", group) }
    static func creation(_ group: GroupSettings) -> CanaryKey { CanaryKey("creation", group) }
    static func sent(_ group: GroupSettings) -> CanaryKey { CanaryKey("sent", group) }
    static func heard(_ group: GroupSettings) -> CanaryKey { CanaryKey("heard", group) }
    static func asked(_ group: GroupSettings) -> CanaryKey { CanaryKey("asked", group) }
    static func noticed(_ group: GroupSettings) -> CanaryKey { CanaryKey("noticed", group) }
    static func verdicts(_ group: GroupSettings) -> CanaryKey { CanaryKey("verdicts", group) }
}

extension BotContext {
    /// Returns a stored value; nil if absent, or another version wrote it.
    func stored<Value: Decodable>(_ type: Value.Type, _ key: CanaryKey) async throws -> Value? {
        try await value(key.text).flatMap { try? JSONDecoder().decode(type, from: Data($0)) }
    }

    func store(_ value: some Encodable, _ key: CanaryKey) throws {
        setValue(Array(try JSONEncoder().encode(value)), forKey: key.text)
    }
}
