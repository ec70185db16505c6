extension CoreModel {
    mutating func actOnAccount(
        _ action: AppAction, _ request: RequestID?, _ step: inout CoreStep
    ) throws -> ActionOutcome? {
        throw AppCoreError(.notAllowed, "not yet")
    }
}
