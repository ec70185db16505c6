extension CoreModel {
    mutating func actOnAccount(
        _ action: AppAction, _ request: RequestID?, _ step: inout CoreStep
    ) throws -> ActionOutcome? {
        switch action {
        case .foregrounded: step.effects.append(.reconnect)
        case .reloadConfiguration(let configuration): try self.reload(configuration, &step)
        default:
            throw AppCoreError(
                .notAllowed,
                "the core of one account cannot change accounts; dispatch the action to AppSession")
        }
        return .done(chatID: nil)
    }
}
