extension CoreModel {
    mutating func actOnPeople(
        _ action: AppAction, _ request: RequestID?, _ step: inout CoreStep
    ) throws -> ActionOutcome? {
        throw AppCoreError(.notAllowed, "not yet")
    }
}
