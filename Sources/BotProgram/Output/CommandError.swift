/// An error of a command, as a sentence for the user.
package struct CommandError: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}
