/// A command could not do what it was asked to; the sentence is for the person who asked.
package struct CommandError: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}
