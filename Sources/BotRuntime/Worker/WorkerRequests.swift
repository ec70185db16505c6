public import Nostr

/// What a worker's supervisor may ask, and how each question is answered.
///
/// On the wire `{"ask":NAME,"id":N,…}` comes in and `{"answer":N,"result":…}` or `{"answer":N,"error":TEXT}` goes out.
/// A question with `"signOfLife":true` is answered also while there are too many others.
public struct WorkerRequests: Sendable {
    /// Gets the whole question. What it throws is answered as an error, in words: no secret may be in it.
    public typealias Answer = @Sendable (JSONValue) async throws -> JSONValue

    private var answers: [String: Answer] = [:]

    public init() {}

    /// Answers questions of this name from now on; the latest one counts.
    public mutating func on(_ ask: String, _ answer: @escaping Answer) { answers[ask] = answer }

    subscript(ask: String) -> Answer? { answers[ask] }
}

/// Why a question has no answer; the sentence is what the asker reads.
public struct WorkerRefusal: Error, Hashable, CustomStringConvertible {
    public let description: String

    public init(_ description: String) { self.description = description }
}
