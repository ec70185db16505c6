import Testing

@testable import MLS

/// Expects `body` to throw an ``MLSError`` with this code.
func expectError(
    _ code: MLSError.Code, sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void
) {
    do {
        try body()
        Issue.record("expected error \(code), found none", sourceLocation: sourceLocation)
    } catch let error as MLSError {
        #expect(error.code == code, "\(error)", sourceLocation: sourceLocation)
    } catch {
        Issue.record("expected an MLSError, found \(error)", sourceLocation: sourceLocation)
    }
}
