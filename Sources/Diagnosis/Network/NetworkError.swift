/// Why something on the network could not be reached, in words for people.
struct NetworkError: Error, Hashable, Sendable, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
