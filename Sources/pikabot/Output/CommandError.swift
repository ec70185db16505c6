/// A command could not do what it was asked to; the sentence is for the person who asked.
struct CommandError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
