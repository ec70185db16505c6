import Appliance
import BotKit

/// The appliances of the household.
extension Kitchen {
    /// What a person meant by `@NAME`, or by leaving it out.
    enum Choice: Hashable, Sendable {
        case appliance(ApplianceRecord)
        /// No appliance, or several; with the text to answer.
        case unclear(String)
    }

    /// Finds an appliance by its name or its number; the only one without a reference.
    func choose(_ reference: String?, for chat: ChatID) -> Choice {
        let all = state.household.appliances
        guard !all.isEmpty else { return .unclear(text(.applianceNone, for: chat)) }
        let found: ApplianceRecord?
        if let reference, !reference.isEmpty {
            let number = Int(reference).map { $0.clampedSubtracting(1) }
            found =
                all.first { $0.name.lowercased() == reference.lowercased() }
                ?? number.flatMap { all.indices.contains($0) ? all[$0] : nil }
        } else {
            found = all.count == 1 ? all[0] : nil
        }
        guard let found else {
            let names = all.map { $0.name }.joined(separator: ", ")
            return .unclear(text(.applianceChoose, ["names": names], for: chat))
        }
        return .appliance(found)
    }

    /// One line for each appliance.
    func status(for chat: ChatID) -> String {
        let all = state.household.appliances
        guard !all.isEmpty else { return text(.applianceNone, for: chat) }
        return all.enumerated().map { index, appliance in
            let isReached = appliance.isOnline || reach[appliance.id]?.byLocalNetwork == true
            let key = isReached ? TextKey(appliance.state) : .stateOffline
            let state = text(key, for: chat)
            return "\(index + 1). " + text(.applianceStatus, ["name": appliance.name, "state": state], for: chat)
        }
        .joined(separator: "\n")
    }

    /// Renames an appliance beside the chat, whose next message may be an emergency stop. Returns what to answer at once.
    func rename(_ number: Int, to name: String, id: String, for chat: ChatID) -> String? {
        guard case .appliance(let appliance) = choose("\(number)", for: chat) else { return status(for: chat) }
        guard let request = try? APIRequest.rename(appliance.id, name) else {
            return text(.commandFailed, ["reason": "malformed"], for: chat)
        }
        services.resources.background.start {
            await self.rename(appliance.id, to: name, request, id: id, for: chat.rawValue)
        }
        return nil
    }

    private func rename(
        _ appliance: String, to name: String, _ request: APIRequest, id: String, for chat: String
    ) async {
        let answer = await client.send(request)
        let settings = settings
        _ = try? await update { state, _ in
            if answer.isSuccess, let index = state.household.appliances.firstIndex(where: { $0.id == appliance }) {
                state.household.appliances[index].name = name
            }
            let key: TextKey =
                answer.isSuccess ? .applianceRenamed : answer == .signedOut ? .loginNeeded : .cloudUnreachable
            state.tell(id, chat, key, ["name": name], in: settings)
            return ((), [])
        }
    }
}
