import Appliance
import BotKit
import Foundation

/// The records of a ``KitchenState``.
struct KitchenStore: Sendable {
    private let records: any SealedRecords
    private let bot: String

    init(_ services: BotServices) {
        records = services.records
        bot = services.bot
    }

    /// Reads the state; a new one if nothing is stored. Throws `BotError.Code.storageFailed`.
    func load() async throws(BotError) -> KitchenState {
        KitchenState(
            cooking: try await part("cooking") ?? CookingPart(), history: try await part("history") ?? HistoryPart(),
            preferences: try await part("preferences") ?? PreferenceSync(),
            household: try await part("household") ?? HouseholdPart())
    }

    /// Writes the parts that have changed, in one transaction. Throws `BotError.Code.storageFailed`.
    func save(_ state: KitchenState, over stored: KitchenState) async throws(BotError) {
        var changes: [SealedRecordKey: [UInt8]?] = [:]
        if state.cooking != stored.cooking { changes[key("cooking")] = try encoded(state.cooking) }
        if state.history != stored.history { changes[key("history")] = try encoded(state.history) }
        if state.preferences != stored.preferences { changes[key("preferences")] = try encoded(state.preferences) }
        if state.household != stored.household { changes[key("household")] = try encoded(state.household) }
        guard !changes.isEmpty else { return }
        try await records.write(changes)
    }

    private func key(_ part: String) -> SealedRecordKey { SealedRecordKey(bot: bot, name: "kitchen/\(part)") }

    private func part<Part: Decodable>(_ name: String) async throws(BotError) -> Part? {
        guard let bytes = try await records.record(key(name)) else { return nil }
        guard let part = try? JSONDecoder().decode(Part.self, from: Data(bytes)) else {
            throw BotError(.storageFailed, "kitchen/\(name): the stored record is damaged; restore a backup")
        }
        return part
    }

    private func encoded(_ part: some Encodable) throws(BotError) -> [UInt8]? {
        guard let bytes = try? JSONEncoder().encode(part) else {
            throw BotError(.storageFailed, "the state cannot be expressed as JSON")
        }
        return Array(bytes)
    }
}
